"""Commands of checks, by their words and by their outputs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ebbtide.claims.check_runs import check_runs, commands_of
from tests.claims.conftest import answers, is_accused, shell

#: Commands that check everything.
WHOLE = """\
python -m unittest discover -s tests -p "test_*.py"
python -m unittest discover -s tests -v
python -m unittest
pytest -p no:cacheprovider
pytest -n auto
pytest -n 4 -x --tb=short
pytest -m "not slow"
pytest -c setup.cfg
pytest --cov=src --cov-report=term-missing
pytest --cov src --cov-report term-missing
pytest --cov src/quay tests
pytest -o addopts="" tests/
pytest --junitxml report.xml
pytest --rootdir /x/y
pytest --durations 10 -W error::DeprecationWarning
pytest --ignore tests/e2e
pytest --ignore=tests/e2e
pytest --timeout 60 -rA
pytest -q tests test_extra
pytest .
python -m pytest -vv -s
PYTHONPATH=src python -m pytest -q
cd /app && pytest -q
poetry run pytest --color=no
tox -e py311
nox -s tests
go test -count=1 ./...
go test -p 1 ./...
go test -timeout 60s -race ./...
go test -tags integration ./...
go test -tags=integration -race ./...
go test -coverprofile c.out ./...
go test -coverprofile=c.out -covermode=atomic ./...
go test -v -cover ./... -args -x
go test -json ./...
gotestsum --format testname ./...
gotestsum --format pkgname -- -race ./...
cargo test --workspace
cargo test --workspace --all-features
cargo test --all
cargo test --all-targets --no-fail-fast
cargo test --features full -- --nocapture
cargo test --manifest-path crates/a/Cargo.toml
cargo test -- --test-threads=1
cargo nextest run --workspace --profile ci
cargo test -q
npx jest --config jest.config.js
npx jest -c jest.config.ts --runInBand
npx jest --ci --coverage
npx jest --coverageDirectory ./cov
npx jest --maxWorkers 2
npx vitest run --config vitest.config.ts
npx vitest run --reporter verbose
npx vitest run --reporter=verbose --coverage
npx vitest --run
npm test
npm test -- --coverage
npm test -- --watchAll=false
npm test -- --run
npm test --silent
npm run test -- --reporter=dot
yarn test --ci
pnpm -r test
pnpm -w test
pnpm --filter '*' test
bun test
bun run test
bun test --timeout 10000
mvn -B -q test
mvn test -DskipITs
mvn -f pom.xml test
mvn -s settings.xml clean verify
mvn clean test -Pci
./mvnw -B verify --no-transfer-progress
./gradlew test
./gradlew clean test --info
./gradlew test --rerun-tasks --no-daemon
./gradlew check
./gradlew :test
gradle -q test
dotnet test
dotnet test MySolution.sln
dotnet test -c Release --no-build
dotnet test --logger "console;verbosity=normal"
dotnet test --settings x.runsettings
dotnet test --verbosity quiet
dotnet test --collect:"XPlat Code Coverage"
make test
make -j4 test
make -C . test
make test V=1
npx eslint .
npx eslint src --ext .ts,.tsx
npx eslint --config .eslintrc.js .
npx eslint . --max-warnings 0
npx eslint --ext .ts,.tsx src/
npx eslint . --cache --cache-location .eslintcache
npx eslint . -o out.txt
npx tsc -p tsconfig.json
npx tsc --noEmit -p tsconfig.json
npx tsc --noEmit --project tsconfig.json
npx tsc -b
npx tsc --build --verbose
mypy .
mypy src
mypy --config-file mypy.ini src
mypy --strict src/
ruff check
ruff check .
ruff check src tests
ruff check src/ tests/
ruff check --config pyproject.toml
ruff check --output-format concise .
golangci-lint run
golangci-lint run --timeout 5m
golangci-lint run --config .golangci.yml ./...
golangci-lint run -c .golangci.yml
cargo clippy --all-targets --all-features -- -D warnings
cargo clippy --workspace -- -D warnings
cargo build --release
cargo check --workspace
bundle exec rspec
bundle exec rspec --format documentation
bundle exec rspec --format progress --out r.txt
vendor/bin/phpunit
vendor/bin/phpunit --configuration phpunit.xml
vendor/bin/phpunit -c phpunit.xml.dist
mix test --trace
ctest --output-on-failure
ctest --test-dir build
ctest -j 4
flutter test
swift test --parallel
npx playwright test
npx playwright test --reporter=line
npx playwright test --config playwright.config.ts
npx playwright test --workers 1
npx cypress run --browser chrome
bazel test //...
deno test -A
deno test --allow-all
node --test
npx mocha --require ts-node/register
npx mocha --timeout 10000
npx mocha -r dotenv/config
npx ava --verbose
just test
task test
turbo run test
nx run-many -t test
"""
#: Commands that check a part.
PART = """\
pytest tests/test_a.py
pytest tests/unit
pytest -k tides
pytest tests/test_a.py::test_x
pytest --lf
go test ./internal/a
go test ./internal/a/...
go test -run TestX ./...
go test ./pkg1 ./pkg2
cargo test tides
cargo test -p core
cargo test --package core
cargo test --test integration
npx jest src/a.test.ts
npx jest a.test
npx jest -t "name"
npx jest --testPathPattern=auth
npx jest auth
npx vitest run src/a
npx vitest run auth
npm test -- src/a.test.ts
npm test -- -t name
npm test -- auth
bun test src/a.test.ts
mvn test -Dtest=FooTest
mvn -pl core test
mvn -pl core -am test
./gradlew test --tests FooTest
./gradlew :core:test
dotnet test --filter Foo
dotnet test tests/A.Tests/A.Tests.csproj
dotnet test tests/A.Tests
npx eslint src/a.ts
npx tsc -p packages/a
ruff check a.py
mypy src/a.py
golangci-lint run ./internal/a/...
bundle exec rspec spec/a_spec.rb
bundle exec rspec spec/a_spec.rb:10
vendor/bin/phpunit --filter Foo
vendor/bin/phpunit tests/Unit
mix test test/a_test.exs
npx playwright test e2e/a.spec.ts
npx mocha test/a.js
npx mocha -g name
python -m unittest tests.test_a
python -m unittest tests.test_a.TestX.test_y
python manage.py test app
swift test --filter Foo
deno test a_test.ts
flutter test test/a_test.dart
"""
#: Commands with a claim, and what they print where it is true and where it is false.
OUTPUTS = re.findall(
    r"^\$ ([^\n]+)\n([^\n]+)\n<<< true\n(.*?)\n<<< false\n(.*?)\n<<< end$",
    (Path(__file__).parent / "samples" / "check_outputs.txt").read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)
#: Tools that print nothing by which a filtered run would be known to have failed.
_SILENT = ("go build", "go vet", "golangci-lint run ./...")


def _scopes(command: str) -> list[str]:
    return [run.scope for run in check_runs(command, commands_of(command), None, 1, has_failed=False)]


@pytest.mark.parametrize("command", WHOLE.splitlines())
def test_a_run_of_everything(command: str) -> None:
    """Options that set a tool up, and reports that it writes, choose no part."""
    assert _scopes(command) == [""]


@pytest.mark.parametrize("command", PART.splitlines())
def test_a_run_of_a_part(command: str) -> None:
    """Paths, names and options of choice do."""
    scopes = _scopes(command)
    assert scopes
    assert all(scopes)


@pytest.mark.parametrize(
    ("command", "report", "good", "bad"),
    OUTPUTS,
    ids=[f"{command}: {report}" for command, report, _, _ in OUTPUTS],
)
def test_what_it_prints(command: str, report: str, good: str, bad: str) -> None:
    """The output proves a claim or contradicts it: alone, with its exit code, and behind a filter."""
    proven = answers([shell(command, good)], report)
    assert any(answer.split()[1] == "proven" for answer in proven), proven
    assert is_accused([shell(f"{command} 2>&1", bad, error=True)], report)
    assert is_accused([shell(f'{command}; echo "exit $?"', f"{bad}\nexit 1")], report)
    assert not is_accused([shell(f'{command}; echo "exit $?"', f"{good}\nexit 0")], report)
    for line in (f"{command} 2>&1 | tail -20", f"{command} || true"):
        assert not is_accused([shell(line, good)], report)
        assert is_accused([shell(line, bad)], report) or command.startswith(_SILENT)
