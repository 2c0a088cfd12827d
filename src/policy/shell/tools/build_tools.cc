// Option tables of build and test programs.
#include <array>

#include "policy/shell/tools/option_table.h"

namespace agentrt::policy::shell {
namespace {

// clang-format off
constexpr std::array kTables = {
    OptionTable{"make gmake bmake", "bmBdihkLnpqrRsStvw", "CEfIj?l?oO?W",
        "--always-make --directory= --debug? --ignore-errors --jobs? --load-average? --max-load? "
        "--check-symlink-times --just-print --dry-run --recon --old-file= --assume-old= "
        "--output-sync? --print-data-base --question --no-builtin-rules --no-builtin-variables "
        "--silent --quiet --no-silent --keep-going --no-keep-going --stop --touch --trace "
        "--print-directory --no-print-directory --what-if= --new-file= --assume-new= "
        "--warn-undefined-variables --shuffle?",
        "!-f !--file= !--makefile= !-E !--eval= !-I !--include-dir= !-e "
        "!--environment-overrides"},
    OptionTable{"ninja samu", "nvh", "CfjkldtW", "--quiet --verbose", "!-f !-t"},
    OptionTable{"just", "*", "fdsc", "*",
        "!-f !--justfile= !--shell= !--shell-arg= !--shell-command !-c !--command= !--set= "
        "!--working-directory= !-d !-e !--edit !--chooser= !--dotenv-path= !--dotenv-filename= "
        "!--cygpath= --dump-format="},
    OptionTable{"cmake", "NLHhvV", "SBGTADUCPEjtW",
        "--build= --install= --target= --config= --parallel? --clean-first --verbose --fresh "
        "--log-level= --log-context --trace --trace-expand --trace-format= --trace-source= "
        "--list-presets? --prefix= --component= --strip --warn-uninitialized --no-warn-unused-cli "
        "--check-system-vars --debug-output --debug-find --debug-trycompile --system-information "
        "--help-* --use-stderr --default-directory-permissions= --resolve-package-references= "
        "--loglevel=",
        "!-P !-E !-C !--toolchain= !--graphviz= --trace-redirect= --profiling-output= "
        "--profiling-format= !^--preset= !--open !--find-package !--workflow --debugger* "
        "!--project-file= --sarif-output= --install-prefix="},
    OptionTable{"ctest", "", "",
        "-C= --build-config= --progress -V --verbose -VV --extra-verbose --debug "
        "--output-on-failure --stop-on-failure --test-output-size-passed= "
        "--test-output-size-failed= --test-output-truncation= -F -j= -j* --parallel= --parallel "
        "-Q --quiet -N --show-only -L= --label-regex= -R= --tests-regex= -E= --exclude-regex= "
        "-LE= --label-exclude= -FA= -FS= -FC= --fixture-exclude-any= --fixture-exclude-setup= "
        "--fixture-exclude-cleanup= -I= --tests-information= -U --union --rerun-failed --repeat= "
        "--repeat-until-fail= --max-width= --no-label-summary --no-subproject-summary "
        "--test-dir= --test-load= --schedule-random --timeout= --stop-time= --print-labels "
        "--no-tests= -W= --list-presets -H --help-* --resource-spec-file= --tests-from-file= "
        "--exclude-from-file= --http1.0 --no-compress-output",
        "!-S= !-SP= !--script= !--script-new-process= !-D= !-D* !-M= !-T= !-A= "
        "!--build-and-test -O= --output-log= --output-junit= !--extra-submit= !--test-command "
        "!--launch* !^--preset= !--interactive-debug-mode= !--build-*",
        OptionStyle::words},
    OptionTable{"pytest py.test", "xsvqlh0123456789", "kmnWrpco",
        "--exitfirst --maxfail= --strict-config --strict-markers --strict --markers "
        "--continue-on-collection-errors "
        " --last-failed --lf --failed-first --ff --new-first --nf --stepwise "
        "--sw --stepwise-skip --sw-skip --cache-show? --cache-clear --last-failed-no-failures= "
        "--lfnf= --durations= --durations-min= --verbose --verbosity= --quiet --no-header "
        "--no-summary --no-fold-skipped --force-short-summary --disable-warnings "
        "--disable-pytest-warnings --showlocals --no-showlocals --tb= --xfail-tb --show-capture= "
        "--full-trace --color= --code-highlight= --capture= --runxfail --keep-duplicates "
        "--collect-only --co --ignore= --ignore-glob= --deselect= --pyargs --collect-in-virtualenv "
        "--import-mode= --doctest-modules --doctest-report= --doctest-glob= "
        "--doctest-ignore-import-errors --doctest-continue-on-failure --fixtures --funcargs "
        "--fixtures-per-test --setup-only --setup-show --setup-plan --assert= --trace-config "
        "--pythonwarnings= --log-level= --log-format= --log-date-format= --log-cli-level= "
        "--log-cli-format= --log-cli-date-format= --log-file-level= --log-disable= "
        "--log-auto-indent= --numprocesses= --maxprocesses= --dist= --looponfail --forked "
        "--timeout= --timeout-method= --reruns= --reruns-delay= --cov? --cov-report= "
        "--no-cov --cov-branch --cov-append --cov-fail-under= --cov-context= --randomly-seed= "
        "--randomly-dont-* "
        "--random-order --random-order-seed= --asyncio-mode= --benchmark-only --benchmark-skip "
        "--benchmark-disable --hypothesis-seed= --hypothesis-profile= --snapshot-update "
        "--flake-finder --count= --repeat= --runslow --run-slow --slow --integration --sugar "
        "--picked? --testmon --mypy --only-rerun= --rerun-except= --fail-slow= --xvs",
        "!-c !--config-file= !--rootdir= !--confcutdir= !--noconftest= --basetemp= !-o "
        "!--override-ini= --junitxml= --junit-xml= --junit-prefix= --resultlog= --result-log= "
        "!--pdbcls= !--pdb !--trace --debug? --log-file= --log-file-mode= --cov-config= --html= "
        "--report-log= !--pastebin= !--plugins= --profile* --alluredir= --tx= !--rsyncdir= "
        "!--px= --benchmark-json= --benchmark-save= --benchmark-storage= !--dc= !--ds="},
    OptionTable{"tsc", "", "",
        "-noEmit -watch -w -project= -p= -build -b -version -v -help -h -all -pretty -strict "
        "-skipLibCheck -target= -t= -module= -m= -lib= -jsx= -incremental -listFiles "
        "-listFilesOnly -listEmittedFiles -explainFiles -showConfig -traceResolution "
        "-diagnostics -extendedDiagnostics -esModuleInterop -allowJs -checkJs -declaration -d "
        "-sourceMap -noEmitOnError -noUnused* -noImplicit* -noFallthrough* -strict* "
        "-moduleResolution= -types= -typeRoots= -rootDir= -rootDirs= -baseUrl= -force -f -dry "
        "-verbose -clean -preserveWatchOutput -isolatedModules -resolveJsonModule "
        "-emitDeclarationOnly -experimentalDecorators -emitDecoratorMetadata "
        "-forceConsistentCasingInFileNames -locale= -removeComments -assumeChangesOnlyAffect*",
        "-outFile= -outDir= -declarationDir= -tsBuildInfoFile= -generateTrace= "
        "-generateCpuProfile= -init -out= !-plugins=", OptionStyle::words},
    OptionTable{"eslint", "cqfvh", "cfo",
        "--cache --color --no-color --debug --env= --env-info --ext= --fix --fix-dry-run "
        "--fix-type= --global= --ignore-pattern= --ignore-path= --no-ignore "
        "--max-warnings= --no-error-on-unmatched-pattern --no-inline-config --print-config= "
        "--quiet --report-unused-disable-directives --report-unused-disable-directives-severity= "
        "--rule= --stdin --stdin-filename= --pass-on-no-patterns --stats --cache-strategy= "
        "--no-warn-ignored --exit-on-fatal-error --no-eslintrc --no-config-lookup "
        "--parser-options= --flag=",
        "!-c !--config= !^-f !^--format= !--parser= !--plugin= !--rulesdir= "
        "!--resolve-plugins-relative-to= -o --output-file= --cache-file= --cache-location= "
        "--init"},
    OptionTable{"prettier", "clwuh", "",
        "--check --list-different --write --color --no-color --no-config --no-editorconfig "
        "--config-precedence= --ignore-path= --log-level= --loglevel= --stdin-filepath= "
        "--parser= --print-width= --tab-width= --use-tabs --no-semi --single-quote "
        "--jsx-single-quote --quote-props= --trailing-comma= --no-bracket-spacing "
        "--bracket-same-line --arrow-parens= --prose-wrap= --end-of-line= --ignore-unknown "
        "--cache --cache-strategy= --no-error-on-unmatched-pattern --find-config-path= "
        "--support-info --file-info= --with-node-modules",
        "!--config= !--plugin= !--plugin-search-dir= --cache-location="},
    OptionTable{"jest vitest mocha", "*", "tcrR", "--coverage? --root --watch --dir --ui --run *",
        "!-c !--config= !--globalSetup= !--globalTeardown= !--setupFiles* !--runner= "
        "!--testRunner= !^--testEnvironment= !--transform= !--resolver= !^--reporters= !--rootDir= "
        "!--roots= !--moduleLoader= !--testSequencer= !--watchPlugins= !--preset= !--prettierPath= "
        "!--haste= --outputFile= --coverageDirectory= --cacheDirectory= !--require= !-r "
        "!^--reporter= !^--ui= !--file= !--loader= !--import= !--node-option= !--package= "
        "!^--environment= !--root= !--dir= !--execArgv= !--browser* !^--coverageProvider= "
        "!--dependencyExtractor= !--filter= !--snapshotResolver= !--testResultsProcessor= "
        "!--workerIdle*"},
    OptionTable{"mypy", "vhpcm", "pcm",
        "--strict --ignore-missing-imports --show-error-codes --hide-error-codes --pretty "
        "--no-color-output --no-error-summary --follow-imports= --python-version= --platform= "
        "--disallow-* --allow-* --check-untyped-defs --no-* --warn-* --strict-* --explicit-* "
        "--namespace-packages --exclude= --package= --module= --show-column-numbers "
        "--show-error-context --show-error-end --show-absolute-path --incremental --verbose "
        "--disable-error-code= --enable-error-code= --local-partial-types --implicit-* "
        "--skip-version-check --skip-cache-mtime-checks --sqlite-cache --extra-checks "
        "--non-interactive",
        "!--config-file= !--python-executable= !--custom-typeshed-dir= --cache-dir= --junit-xml= "
        "--html-report= --txt-report= --xml-report= --any-exprs-report= "
        "--cobertura-xml-report= --linecount-report= --linecoverage-report= "
        "--lineprecision-report= --xslt-* --install-types !--shadow-file= --pdb !-c "
        "!--command= !--plugins= --cache-fine-grained --dump-*"},
    OptionTable{"ruff", "*", "", "*", "!--config= ~-o ~--output-file= --cache-dir="},
    OptionTable{"black isort autopep8 yapf", "*", "ltCxSWk", "*", "!--config= --settings-*"},
    OptionTable{"flake8 pylint pyflakes", "*", "jd", "*",
        "!--config= !--append-config= !--rcfile= !--load-plugins= !--init-hook= --output-file= "
        "--tee= !--plugins= --generate-* !--import-graph= !--output="},
    OptionTable{"go", "", "",
        "-a -n -p= -race -msan -asan -cover -covermode= -coverpkg= -v -work -x -buildmode= "
        "-buildvcs= -buildvcs -installsuffix= -linkshared -mod= -modcacherw -tags= -trimpath -i "
        "-json -bench= -benchmem -benchtime= -blockprofilerate= -count= -cpu= -failfast -fullpath "
        "-fuzz= -fuzztime= -fuzzminimizetime= -list= -memprofilerate= -mutexprofilefraction= "
        "-parallel= -run= -short -shuffle= -skip= -timeout= -vet= -f= -compiled -deps -e -export "
        "-find -m -reuse= -test -u -t -d -versions -retracted -s -l -all -src "
        "-cmd -diff -go= -lang= -changed -simplify",
        "!-exec= !-toolexec= !-vettool= !-overlay= !-modfile= -o= -coverprofile= -cpuprofile= "
        "-memprofile= -blockprofile= -mutexprofile= -trace= -outputdir= -testlogfile= -c !-C= "
        "!-ldflags= !-gcflags= !-asmflags= !-gccgoflags= -w -fuzzcachedir= !-compiler= -pgo= "
        "-gocoverdir= !-pkgdir= !-fixtool= !-fix -debug-trace= -debug-actiongraph= !-test.*",
        OptionStyle::words},
    OptionTable{"gofmt goimports", "", "", "-d -e -l -s -cpuprofile= -r= -local= -v -srcdir= "
        "-format-only", "-w -cpuprofile= -memprofile= -trace=", OptionStyle::words},
    OptionTable{"rustc", "ghvVO", "AWDFLlCZoUB",
        "--cfg= --check-cfg= --crate-type= --crate-name= --edition= --emit= --print= --explain= "
        "--test --target= --warn= --allow= --deny= --forbid= --cap-lints= --error-format= --json= "
        "--color= --verbose --diagnostic-width= --remap-path-prefix=",
        "!-C !--codegen= !-Z !--sysroot= !--extern= !-L !-B --out-dir= !-l"},
    OptionTable{"rustfmt", "qvlh", "l",
        "--check --edition= --color= --files-with-diff --quiet --verbose --backup",
        "!--config-path= !--config= --emit= --print-config="},
    OptionTable{"javac jar javadoc", "", "", "*",
        "!-processor= !-processorpath= !--processor-path= !-Xplugin* !-J* !-d= !-h= !-s= !-doclet= "
        "!-docletpath= !--processor-module-path= !-A*", OptionStyle::words},
    OptionTable{"mvn mvnw mvnd", "", "",
        "-Dtest? -DskipTests? -DskipITs? -Dmaven.test.skip? -Dit.test? -DfailIfNoTests? "
        "-Dsurefire.failIfNoSpecifiedTests? -Dgroups? -DexcludedGroups? -Dstyle.color? *",
        "!-f= !--file= !-s= !--settings= !-gs= !--global-settings= !-t= !--toolchains= !-gt= "
        "!--global-toolchains= !-D* !--define= -l= --log-file= !-ep= !--encrypt-*",
        OptionStyle::words},
    OptionTable{"gradle gradlew", "", "", "*",
        "!-I= !--init-script= !-b= !--build-file= !-c= !--settings-file= !-p= !--project-dir= "
        "!--include-build= !-g= !--gradle-user-home= !-D* !-P* !--system-prop= !--project-prop= "
        "--project-cache-dir= --write-*", OptionStyle::words},
    OptionTable{"dotnet", "*", "", "*",
        "!--settings= !-s !-p !--property* !-p:* !--test-adapter-path= !^--logger= !^-l "
        "--results-directory= --diag= -o --output= !--additional-deps= !--additionalprobingpath= "
        "!--depsfile= !--runtimeconfig= !--fx-version="},
    OptionTable{"clang-format clang-tidy", "hip", "p",
        "-style= -i -n -dry-run -Werror -fallback-style= -assume-filename= -length= -lines= "
        "-offset= -cursor= -sort-includes -verbose -version -files= -checks= -header-filter= "
        "-list-checks -quiet -p= -warnings-as-errors= -system-headers -line-filter= -use-color "
        "-explain-config -dump-config -format-style= -fix -fix-errors -fix-notes "
        "-exclude-header-filter= -ferror-limit= -Wno-error= -verify-config -allow-no-checks "
        "-enable-check-profile -std= -W*",
        "!-load= !-plugin* !-config-file= !-extra-arg= !-extra-arg-before= !-vfsoverlay= "
        "-export-fixes= -store-check-profile= !-clang-tidy-*", OptionStyle::words},
};
// clang-format on

}  // namespace

std::span<const OptionTable> build_tables() { return kTables; }

}  // namespace agentrt::policy::shell
