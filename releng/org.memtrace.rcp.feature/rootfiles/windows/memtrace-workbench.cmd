@echo off
rem SPDX-FileCopyrightText: memtrace contributors
rem SPDX-License-Identifier: EPL-2.0
rem
rem Starts the memtrace workbench: memtrace-workbench [-data DIR] [-catalogue DIR] [TRACE...]
rem Programs are recorded on Linux; traces from there are imported and looked at here.
rem
rem Java 21 or newer: MEMTRACE_JAVA (a program or a folder), JAVA_HOME, or java on PATH.
setlocal
set "here=%~dp0"
set "java=java"
if defined JAVA_HOME set "java=%JAVA_HOME%\bin\java.exe"
if defined MEMTRACE_JAVA set "java=%MEMTRACE_JAVA%"
if exist "%java%\bin\java.exe" set "java=%java%\bin\java.exe"
"%java%" -version 1>nul 2>nul
if errorlevel 1 (
	echo memtrace: the workbench needs Java 21 or newer; install one ^(https://adoptium.net^) or set MEMTRACE_JAVA 1>&2
	exit /b 4
)
set "launcher="
for %%f in ("%here%plugins\org.eclipse.equinox.launcher_*.jar") do set "launcher=%%f"
"%java%" -Xmx2g -XX:+UseG1GC -XX:G1PeriodicGCInterval=10000 -XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=20 ^
	-Djava.util.logging.config.file="%here%logging.properties" ^
	--enable-native-access=ALL-UNNAMED -Dslf4j.internal.verbosity=ERROR %MEMTRACE_VMARGS% ^
	-jar "%launcher%" -data @noDefault %*
exit /b %errorlevel%
