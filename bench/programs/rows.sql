-- SPDX-FileCopyrightText: memtrace contributors
-- SPDX-License-Identifier: EPL-2.0
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i+1 from n where i<150000) insert into t select i, 'row ' || (i*7919 % 150000), i*0.5 from n;
create index tb on t(b);
select count(*), sum(c) from t where b like 'row 1%';
select b, c from t order by b desc limit 3;
update t set c = c + 1 where a % 3 = 0;
select sum(c) from t;
