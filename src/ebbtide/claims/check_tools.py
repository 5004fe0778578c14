"""Table of tools that check code: the commands that run them, and the lines that they print at their end.

A tool with `sums` is known by its output alone, whatever ran it: a target of make, a script, a hook of git.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Final


class Family(StrEnum):
    """Families of checks."""

    TESTS = "tests"
    LINT = "lint"
    TYPES = "types"
    FORMAT = "format"
    BUILD = "build"
    HEALTH = "health"  #: whether a service answers


PYTHON: Final = frozenset({"py", "pyi"})
GO: Final = frozenset({"go"})
SCRIPT: Final = frozenset({"js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte"})
RUST: Final = frozenset({"rs"})
JVM: Final = frozenset({"java", "kt", "kts", "scala", "groovy"})
DOTNET: Final = frozenset({"cs", "fs", "vb", "razor"})
SWIFT: Final = frozenset({"swift", "m", "mm", "h"})
#: Suffixes of files whose change may change the result of a check.
CODE: Final = (
    PYTHON
    | GO
    | SCRIPT
    | RUST
    | JVM
    | DOTNET
    | SWIFT
    | frozenset({"c", "cc", "cpp", "hpp", "rb", "php", "ex", "exs", "dart", "lua", "sh", "ps1", "sql"})
)


#: Name of a package, or of a task in brackets, before each line of an output.
PACKAGE: Final = r"(?:\[[\w@:./-]{1,60}\] |[\w@./ -]{1,60}: )?"


@dataclass(frozen=True, kw_only=True)
class CheckTool:
    """One tool.

    Args:
        commands: Beginnings of its commands, in words.
        sums: Pattern of the lines that sum up a run, at the start of a line; empty where it prints none.
        parts: Pattern in such lines of those that sum up a part of the run, beside one of the whole.
        failed: Pattern of further lines that say that a run failed.
        warned: Pattern of lines that tell of warnings, with which a run may pass.
        code: Suffixes of the files that it checks.
        is_silent: True if a run without findings prints nothing.
        implies: Families that a passing run shows besides.
        is_named: True if its good sums are those of another tool too: they count where it was asked for.
        counts_tests: True if the numbers of its sums are numbers of tests.
    """

    name: str
    family: Family
    commands: tuple[str, ...] = ()
    sums: str = ""
    parts: str = ""
    failed: str = ""
    warned: str = ""
    code: frozenset[str] = CODE
    is_silent: bool = False
    implies: frozenset[Family] = field(default_factory=frozenset)
    is_named: bool = False
    counts_tests: bool = True

    @property
    def lines(self) -> tuple[str, ...]:
        """Patterns of all lines of the tool."""
        return tuple(pattern for pattern in (self.sums, self.failed, self.warned) if pattern)

    @cached_property
    def patterns(self) -> tuple[re.Pattern[str] | None, ...]:
        """`sums`, `failed` and `warned`, compiled; None for an empty one."""
        return tuple(
            re.compile(f"{PACKAGE}(?:{pattern})") if pattern else None
            for pattern in (self.sums, self.failed, self.warned)
        )

    @cached_property
    def any_line(self) -> re.Pattern[str]:
        """Any line of the tool."""
        return re.compile(f"{PACKAGE}(?:{'|'.join(self.lines)})" if self.lines else r"(?!)")


_BUILDS: Final = frozenset({Family.BUILD})
_T, _L, _Y, _F, _B = Family.TESTS, Family.LINT, Family.TYPES, Family.FORMAT, Family.BUILD
_PART: Final = (
    r"\d{1,7} (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun|subtests passed)"
)

TOOLS: Final = (
    CheckTool(
        name="pytest",
        family=_T,
        commands=("pytest", "py.test", "tox", "nox"),
        sums=rf"=* ?{_PART}(?:, {_PART}){{0,8}} in [\d.]+ ?s\b",
        failed=r"FAILED \S+::|ERROR \S+\.py\b|=+ (?:FAILURES|ERRORS) =+",
        code=PYTHON,
    ),
    CheckTool(
        name="unittest",
        family=_T,
        commands=("unittest", "manage.py test", "runtests.py"),
        sums=r"Ran \d{1,7} tests? in [\d.]+s|FAILED \((?:failures|errors)=",
        failed=r"FAILED \((?:failures|errors)=",
        code=PYTHON,
    ),
    CheckTool(
        name="jest",
        family=_T,
        commands=("jest", "react-scripts test"),
        sums=r"Tests: +[^\n]{0,120}\d total",
        failed=r"Test Suites: \d{1,6} failed",
        code=SCRIPT,
    ),
    CheckTool(
        name="vitest",
        family=_T,
        commands=("vitest",),
        sums=r" *Tests  +\d[^\n]{0,120}\(\d{1,7}\)",
        failed=r" *Test Files  +\d{1,6} failed",
        code=SCRIPT,
    ),
    CheckTool(
        name="mocha",
        family=_T,
        commands=("mocha",),
        sums=r" *\d{1,7} passing \([\d.]+m?s\)",
        failed=r" *[1-9]\d{0,6} failing\b",
        code=SCRIPT,
    ),
    CheckTool(
        name="bun test",
        family=_T,
        commands=("bun test",),
        sums=r" *\d{1,7} pass$",
        failed=r" *[1-9]\d{0,6} fail$",
        code=SCRIPT,
    ),
    CheckTool(
        name="node test",
        family=_T,
        commands=("node --test",),
        sums=r"(?:#|\u2139) pass \d{1,7}$",
        failed=r"(?:#|\u2139) fail [1-9]",
        code=SCRIPT,
    ),
    CheckTool(
        name="deno test",
        family=_T,
        commands=("deno test",),
        sums=r"(?:ok|FAILED) \| \d{1,7} passed(?: \(\d{1,7} steps?\))? \| \d{1,7} failed",
        failed=r"FAILED \| \d",
        code=SCRIPT,
    ),
    CheckTool(
        name="ava",
        family=_T,
        commands=("ava",),
        sums=r" *\d{1,7} tests? passed$",
        failed=r" *[1-9]\d{0,6} tests? failed$",
        code=SCRIPT,
    ),
    CheckTool(
        name="cypress",
        family=_T,
        commands=("cypress run",),
        sums=r"\s*\u2714  All specs passed!",
        failed=r"\s*\u2716  \d{1,6} of \d{1,6} failed",
        code=SCRIPT,
    ),
    CheckTool(
        name="playwright",
        family=_T,
        commands=("playwright test",),
        sums=r" *\d{1,7} passed \([\d.]+ ?m?s?\)$",
        failed=r" *[1-9]\d{0,6} failed$",
        code=SCRIPT,
    ),
    CheckTool(
        name="go test",
        family=_T,
        commands=("go test", "gotestsum", "ginkgo"),
        sums=r"ok\s+\S+\s+(?:[\d.]+s|\(cached\))|DONE \d{1,7} tests",
        failed=r"FAIL(?:\s*$|\s+\S{0,200}[./]\S)|--- FAIL:",
        code=GO,
        implies=_BUILDS,
        counts_tests=False,
    ),
    CheckTool(
        name="cargo test",
        family=_T,
        commands=("cargo test", "cargo nextest"),
        sums=r"test result: (?:ok|FAILED)\. \d{1,7} passed; \d{1,7} failed"
        r"| *Summary \[ *[\d.]+s\] \d{1,7} tests? run: \d{1,7} passed",
        failed=r"test result: FAILED|error: could not compile|error\[E\d+\]"
        r"| *Summary \[ *[\d.]+s\] [^\n]{1,60} [1-9]\d{0,6} failed",
        code=RUST,
        implies=_BUILDS,
    ),
    CheckTool(
        name="maven",
        family=_T,
        commands=("mvn test", "mvn verify", "mvn install", "mvn package"),
        sums=r"(?:\[[A-Z]+\] )?Tests run: \d{1,7}, Failures: \d{1,7}, Errors: \d{1,7}[^\n]{0,120}$",
        parts=r"Time elapsed",
        failed=r"\[[A-Z]+\] BUILD FAILURE",
        code=JVM,
        implies=_BUILDS,
    ),
    CheckTool(
        name="gradle",
        family=_T,
        commands=("gradle test", "gradle check", "gradle build", "gradle connectedAndroidTest"),
        sums=r"\d{1,7} tests? completed, \d{1,7} failed|BUILD SUCCESSFUL in",
        failed=r"BUILD FAILED",
        code=JVM,
        implies=_BUILDS,
        is_named=True,
    ),
    CheckTool(
        name="dotnet test",
        family=_T,
        commands=("dotnet test",),
        sums=r"(?:Passed|Failed)! +- Failed: +\d{1,7}, Passed: +\d{1,7}",
        failed=r"Failed! +-|Build FAILED",
        code=DOTNET,
        implies=_BUILDS,
    ),
    CheckTool(
        name="swift test",
        family=_T,
        commands=("swift test", "xcodebuild test"),
        sums=r"\s*Executed \d{1,7} tests?, with \d{1,7} failures?"
        r"|. Test run with \d{1,7} tests? (?:passed|failed)",
        failed=r"\*\* TEST FAILED \*\*",
        code=SWIFT,
        implies=_BUILDS,
    ),
    CheckTool(
        name="rspec",
        family=_T,
        commands=("rspec",),
        sums=r"\d{1,7} examples?, \d{1,7} failures?",
        code=frozenset({"rb"}),
    ),
    CheckTool(
        name="minitest",
        family=_T,
        commands=("rails test", "minitest"),
        sums=r"\d{1,7} (?:runs|tests), \d{1,7} assertions, \d{1,7} failures, \d{1,7} errors",
        code=frozenset({"rb"}),
    ),
    CheckTool(
        name="mix test",
        family=_T,
        commands=("mix test",),
        sums=r"(?:\d{1,7} doctests?, )?\d{1,7} tests?, \d{1,7} failures?",
        code=frozenset({"ex", "exs"}),
    ),
    CheckTool(
        name="ctest",
        family=_T,
        commands=("ctest",),
        sums=r"\d{1,3}% tests passed, \d{1,7} tests? failed out of \d{1,7}",
        code=frozenset({"c", "cc", "cpp", "h", "hpp", "cxx"}),
        implies=_BUILDS,
    ),
    CheckTool(
        name="bazel test",
        family=_T,
        commands=("bazel test", "bazelisk test"),
        sums=r"(?:INFO: )?Executed \d{1,7} out of \d{1,7} tests?: \d{1,7} tests? pass",
        failed=r"(?:INFO: )?Executed [^\n]{1,80}\bfails? (?:locally|remotely|to build)",
        implies=_BUILDS,
        counts_tests=False,
    ),
    CheckTool(
        name="flutter test",
        family=_T,
        commands=("flutter test", "dart test"),
        sums=r"[\d:]{2,8} \+\d{1,7}: All tests passed!",
        failed=r"[\d:]{2,8} \+\d{1,7} (?:~\d{1,7} )?-\d{1,7}: Some tests failed\.",
        code=frozenset({"dart"}),
        counts_tests=False,
    ),
    CheckTool(
        name="phpunit",
        family=_T,
        commands=("phpunit", "pest", "artisan test"),
        sums=r"OK \(\d{1,7} tests?,|Tests: \d{1,7}, Assertions: \d{1,7}",
        failed=r"Tests: \d{1,7}, Assertions: \d{1,7}, (?:Errors|Failures): [1-9]",
        code=frozenset({"php"}),
    ),
    CheckTool(
        name="ruff",
        family=_L,
        commands=("ruff check", "flake8", "pylint"),
        sums=r"All checks passed!",
        failed=r"Found [1-9]\d{0,6} errors?(?! in \d)",
        code=PYTHON,
    ),
    CheckTool(
        name="eslint",
        family=_L,
        commands=("eslint", "next lint", "oxlint", "stylelint"),
        sums=r".{0,3}No ESLint warnings or errors",
        failed=r".{0,3}[1-9]\d{0,6} problems? \([1-9]\d{0,6} errors?",
        warned=r".{0,3}[1-9]\d{0,6} problems? \(0 errors",
        code=SCRIPT,
        is_silent=True,
    ),
    CheckTool(
        name="biome",
        family=_L,
        commands=("biome check", "biome lint", "biome ci"),
        sums=r"Checked \d{1,7} files? in \S+ (?:No fixes applied|Fixed)",
        failed=r"Found [1-9]\d{0,6} errors?",
        warned=r"Found [1-9]\d{0,6} warnings?",
        code=SCRIPT,
    ),
    CheckTool(
        name="golangci-lint",
        family=_L,
        commands=("golangci-lint run", "staticcheck", "revive"),
        sums=r"0 issues\.",
        failed=r"[1-9]\d{0,6} issues?[.:]",
        code=GO,
        is_silent=True,
    ),
    CheckTool(name="go vet", family=_L, commands=("go vet",), code=GO, is_silent=True),
    CheckTool(
        name="clippy",
        family=_L,
        commands=("cargo clippy",),
        failed=r"error: could not compile|error\[E\d+\]",
        warned=r"warning: [^\n]{1,80} generated \d{1,6} warnings?",
        sums=r" *Finished (?:`|(?:dev|release|test|bench)\b)",
        code=RUST,
        implies=_BUILDS,
    ),
    CheckTool(
        name="shellcheck",
        family=_L,
        commands=("shellcheck", "hadolint", "actionlint", "yamllint"),
        code=frozenset({"sh"}),
        is_silent=True,
    ),
    CheckTool(
        name="rubocop",
        family=_L,
        commands=("rubocop", "standardrb"),
        sums=r"\d{1,7} files? inspected, no offenses detected",
        failed=r"\d{1,7} files? inspected, [1-9]\d{0,6} offenses? detected",
        code=frozenset({"rb"}),
    ),
    CheckTool(
        name="swiftlint",
        family=_L,
        commands=("swiftlint",),
        sums=r"Done linting! Found \d{1,7} violations?, 0 serious",
        failed=r"Done linting! Found \d{1,7} violations?, [1-9]\d{0,6} serious",
        warned=r"Done linting! Found [1-9]\d{0,6} violations?, 0 serious",
        code=SWIFT,
    ),
    CheckTool(
        name="pre-commit",
        family=_L,
        commands=("pre-commit run", "prek run"),
        sums=r"[\w@()\[\] ,/+:-]{1,80}\.{3,80}(?:\([\w ]{1,40}\))?(?:Passed|Failed)$",
        failed=r"[\w@()\[\] ,/+:-]{1,80}\.{3,80}Failed$",
    ),
    CheckTool(
        name="markdownlint",
        family=_L,
        commands=("markdownlint-cli2", "markdownlint", "vale"),
        sums=r"Summary: 0 error|.? ?0 errors,",
        failed=r"Summary: [1-9]\d{0,6} error|.? ?[1-9]\d{0,6} errors,",
        code=frozenset({"md"}),
    ),
    CheckTool(
        name="tsc",
        family=_Y,
        commands=("tsc", "vue-tsc", "tsgo"),
        sums=r"Found 0 errors\b",
        failed=r"[\w@./\\ ()\[\]$+-]{1,200}[(:]\d{1,6}[,:]\d{1,6}\)?(?::| -) error TS\d{3,6}\b"
        r"|error TS\d{3,6}:",
        code=SCRIPT,
        is_silent=True,
    ),
    CheckTool(
        name="mypy",
        family=_Y,
        commands=("mypy",),
        sums=r"Success: no issues found",
        failed=r"Found [1-9]\d{0,6} errors? in \d",
        code=PYTHON,
    ),
    CheckTool(
        name="pyright",
        family=_Y,
        commands=("pyright", "basedpyright", "ty check"),
        sums=r"0 errors, \d",
        failed=r"[1-9]\d{0,6} errors?, \d",
        code=PYTHON,
    ),
    CheckTool(
        name="prettier",
        family=_F,
        commands=("prettier --check", "prettier -c", "prettier -l"),
        sums=r"All matched files use Prettier",
        failed=r"(?:\[warn\] )?Code style issues",
        code=SCRIPT | frozenset({"md", "css"}),
    ),
    CheckTool(
        name="ruff format",
        family=_F,
        commands=("ruff format", "black", "isort"),
        sums=r"\d{1,7} files? (?:already formatted|left unchanged|would be left unchanged)",
        failed=r"[1-9]\d{0,6} files? would be reformatted",
        code=PYTHON,
    ),
    CheckTool(name="gofmt", family=_F, commands=("gofmt -l", "gofmt -d"), code=GO, is_silent=True),
    CheckTool(
        name="cargo fmt",
        family=_F,
        commands=("cargo fmt --check", "rustfmt --check"),
        code=RUST,
        is_silent=True,
    ),
    CheckTool(name="go build", family=_B, commands=("go build", "go install"), code=GO, is_silent=True),
    CheckTool(
        name="cargo build",
        family=_B,
        commands=("cargo build", "cargo check"),
        sums=r" *Finished (?:`|(?:dev|release|test|bench)\b)",
        failed=r"error: could not compile|error\[E\d+\]",
        code=RUST,
    ),
    CheckTool(
        name="dotnet build",
        family=_B,
        commands=("dotnet build", "dotnet publish"),
        sums=r"Build succeeded\.",
        failed=r"Build FAILED|[^\n]{0,200}: error [A-Z]+\d+",
        code=DOTNET,
    ),
    CheckTool(
        name="maven build",
        family=_B,
        commands=("mvn compile",),
        sums=r"\[INFO\] BUILD SUCCESS",
        failed=r"\[INFO\] BUILD FAILURE|\[ERROR\] BUILD FAILURE",
        code=JVM,
    ),
    CheckTool(
        name="gradle build",
        family=_B,
        commands=("gradle assemble", "gradle compileJava", "gradle compileKotlin"),
        sums=r"BUILD SUCCESSFUL in",
        failed=r"BUILD FAILED",
        code=JVM,
    ),
    CheckTool(
        name="swift build",
        family=_B,
        commands=("swift build", "xcodebuild"),
        sums=r"Build complete!|\*\* BUILD SUCCEEDED \*\*",
        failed=r"\*\* BUILD FAILED \*\*|\S{1,300}\.(?:swift|m|mm|h):\d{1,7}:\d{1,7}: error: ",
        code=SWIFT,
    ),
    CheckTool(
        name="web build",
        family=_B,
        commands=("vite build", "next build", "webpack", "astro build", "rollup"),
        sums=r".{0,3}built in [\d.]+m?s|.{0,3}Compiled successfully",
        failed=r"error during build|Failed to compile|.{0,3}Build failed",
        code=SCRIPT,
    ),
)

#: Words of which every line that sums a check up has one.
SIGNS: Final = (
    " pass", "Pass", " fail", "FAIL", "Fail", "ERROR", "Ran ", "ok ", "ok\t", "OK (", "Tests", "tests, ",
    "test, ", "runs, ", " example", "DONE ", "Test run", "Executed ", "Found ", "problem", "ESLint ",
    "Checked ", "issue", "error",
    "Finished ", " generated ", "uccess", "All matched",
    "formatted", "unchanged", "succeeded", "BUILD ", "Build complete", "built in", " offense", "Done linting",
)  # fmt: skip
#: Programs that run what a file of the project names, by the words before the name.
RUNNERS: Final = (
    "npm run", "npm", "pnpm run", "pnpm", "yarn run", "yarn", "bun run", "make", "gmake", "just", "task",
    "mise run", "mise", "deno task", "turbo run", "turbo",
    "nx run-many -t", "nx run", "nx", "rake", "composer", "hatch run",
    "poe", "invoke", "ant", "lerna run", "moon run", "gradle", "gradlew", "mvn", "mvnw", "rails", "dart run",
)  # fmt: skip
#: Families by a part of such a name.
TARGETS: Final = (
    ("typecheck", Family.TYPES), ("type-check", Family.TYPES), ("types", Family.TYPES), ("tsc", Family.TYPES),
    ("mypy", Family.TYPES), ("test", Family.TESTS), ("spec", Family.TESTS), ("e2e", Family.TESTS),
    ("lint", Family.LINT), ("vet", Family.LINT), ("clippy", Family.LINT), ("fmt", Family.FORMAT),
    ("format", Family.FORMAT), ("prettier", Family.FORMAT),
    ("build", Family.BUILD), ("compile", Family.BUILD),
)  # fmt: skip
#: Words before a command that only start it, with how many words follow that belong to them.
STARTERS: Final = {
    "sudo": 0, "time": 0, "npx": 0, "bunx": 0, "pnpx": 0, "command": 0, "env": 0, "nice": 0, "exec": 0,
    "rtk": 0, "xvfb-run": 0, "dotenv": 0, "timeout": 1, "gtimeout": 1, "nohup": 0, "then": 0, "do": 0,
    "if": 0, "!": 0, "{": 0, "else": 0, "stdbuf": 0, "caffeinate": 0, "unbuffer": 0, "wsl": 0,
}  # fmt: skip
STARTING_PAIRS: Final = frozenset(
    "uv run|poetry run|pipenv run|pdm run|rye run|hatch run|pnpm exec|npm exec|yarn exec|pnpm dlx|yarn dlx|"
    "bun x|mise exec|bundle exec|python -m|python3 -m|py -m|conda run|dotnet tool|fvm exec".split("|")
)
#: Options that choose a part of what a tool would check.
CHOOSING: Final = frozenset(
    "-run -k -t --testNamePattern --filter -F -p --package -pl --tests --grep -g --test --testPathPattern "
    "--lib --bin --doc -only --only --project --workspace -w -C --cwd --prefix --dir -R "
    "--testPathPatterns".split()
)
#: Options with which a build runs no tests.
SKIPPING: Final = ("-DskipTests", "-Dmaven.test.skip", "-x test")
#: Options with a value that chooses nothing.
VALUED: Final = frozenset(
    "-c --config --config-file --configuration --settings -s --junitxml --junit-xml --rootdir -W --ignore "
    "--deselect --coverageDirectory --cache-location --cache-dir -o --output --out --output-file -r "
    "--require --import --loader --manifest-path --profile --logger --reporter --reporters --format "
    "--formatter -f --cov --cov-report --cov-config --env-file --ext --parser --plugin --rulesdir "
    "--resolve-plugins-relative-to --setupFiles --log-file".split()
)
#: Names of files that set a tool up, hold a whole solution or take a report: arguments that choose nothing.
SETTINGS: Final = (
    r"(?:^|/)(?:\.\w+rc|[\w-]+\.config)\.\w{1,4}$"
    r"|\.(?:json|toml|cfg|ini|xml|ya?ml|conf|slnx?|runsettings|out|txt|html|dist|lock|info)$"
)
#: Options that choose what failed, or changed, before.
FORMER: Final = frozenset(
    "--lf --last-failed --sw --stepwise --onlyChanged --changed --changedSince --findRelatedTests"
    " --only-failures --onlyFailures --rerun-failed".split()
)
#: Plain words of test runners that choose no tests.
MODES: Final = frozenset(
    "run watch verbose test tests all ci true false v quiet silent clean build check install nextest "
    "discover release".split()
)
#: Paths that stand for everything.
WHOLE: Final = frozenset(". ./... ./ ... tests tests/ test test/ src src/ all //...".split())
#: Programs that show what others wrote: their output is no run.
SHOWING: Final = frozenset(
    "cat grep rg egrep sed awk less more nl bat diff find ls tmux jq strings xxd head tail wc fd ag ack "
    "history entire workmux bd echo printf".split()
)
#: Filters behind a pipe that keep the end of an output.
KEEPING_END: Final = frozenset({"tail", "cat", "tee"})
#: Filter that keeps the end where there are fewer lines than it lets through.
KEEPING_START: Final = "head"
#: Words of a harness for an output that is empty.
NO_OUTPUT: Final = "(Bash completed with no output)"
