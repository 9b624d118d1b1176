# `make demo` shows the whole thing at work; `make test` proves it. Both install what they need.
node := PATH="$(CURDIR)/node_modules/.bin:$$PATH" node

.PHONY: demo test test-fast test-full first-day test-times check format ui screens fuzz fuzz-http schemathesis sweep sweep-webhooks sweep-ledgers sweep-runs sweep-ingestion sweep-browsers bench archives docs prices audit dev base-image images clean

demo: node_modules/.installed ## one world session, end to end, as a timeline
	npm run -s demo

test: node_modules/.installed ## all that a change can break: processes, real PostgreSQL, one Docker host, one chart; lands it
	SVC_TEST_TIER=usual npm run -s test

test-fast: check ## on each save: types, lint, pure tests, the world host
	SVC_TEST_TIER=fast npm run -s test

test-full: node_modules/.installed ## every runtime, kills, random requests, clients in Python and Go; before a change is done
	SVC_TEST_TIER=full npm run -s test

first-day: ## a new user's path from a clean copy on, with the time of each step; HERE=1 takes this checkout
	$(node) tools/first-day/main.ts $(if $(HERE),--here)

test-times: ## the order of test files in a fresh checkout, from the times of the last runs
	$(node) test/support/run/times.ts

check: node_modules/.installed ## types, lint, format, subjects of the last commits
	npm run -s types
	npm run -s lint
	@! git log -20 --format='%h %s' 2>/dev/null | grep -E '^[0-9a-f]+ .{73,}' || \
	  { echo 'the subject of a commit has at most 72 characters' >&2; exit 1; }

format: node_modules/.installed
	npm run -s format

ui: node_modules/.installed ## the pages that are shipped, built from src/ui: the generated one, that of code-hosting, the live view
	$(node) src/ui/build.ts

fuzz: node_modules/.installed ## 50,000 mutated world trees, and as many schemas and values more; SEED=<n> starts elsewhere
	FUZZ_TIMES=25 FUZZ_SEED=$(or $(SEED),$(shell date +%Y%m%d)) npm run -s fuzz

fuzz-http: node_modules/.installed ## bodies of all kinds to every operation, each held to its bound; MINUTES=<n> SEED=<n>
	FUZZ_MINUTES=$(or $(MINUTES),30) FUZZ_SEED=$(or $(SEED),$(shell date +%Y%m%d)) npm run -s fuzz-http

schemathesis: node_modules/.installed ## what is served, held to its OpenAPI documents; EXAMPLES=<n> SEED=<n>
	SCHEMATHESIS_EXAMPLES=$(or $(EXAMPLES),50) SCHEMATHESIS_SEED=$(or $(SEED),$(shell date +%Y%m%d)) \
	npm run -s schemathesis

sweep: node_modules/.installed ## programs killed, paused and cut off, 500 times; SEED=<n> TIMES=<n> CASE=<n> RUNTIME=process|docker
	SWEEP_TIMES=$(or $(TIMES),500) SWEEP_SEED=$(or $(SEED),$(shell date +%Y%m%d)) \
	$(if $(CASE),SWEEP_CASE=$(CASE)) $(if $(RUNTIME),SWEEP_RUNTIME=$(RUNTIME)) npm run -s sweep

sweep-webhooks: node_modules/.installed ## sender and control plane killed at 100 moments of deliveries; SEED=<n> TIMES=<n>
	SWEEP_WEBHOOKS=$(or $(TIMES),100) SWEEP_SEED=$(or $(SEED),$(shell date +%Y%m%d)) npm run -s sweep-webhooks

sweep-ledgers: node_modules/.installed ## sessions end 100 times while programs are killed or paused; SEED=<n> TIMES=<n>
	SWEEP_LEDGERS=$(or $(TIMES),100) SWEEP_SEED=$(or $(SEED),$(shell date +%Y%m%d)) npm run -s sweep-ledgers

sweep-runs: node_modules/.installed ## runs of tests and datasets whose database or control plane goes 100 times; SEED=<n> TIMES=<n>
	SWEEP_RUNS=$(or $(TIMES),100) SWEEP_SEED=$(or $(SEED),$(shell date +%Y%m%d)) npm run -s sweep-runs

sweep-ingestion: node_modules/.installed ## the control plane killed at 100 moments while agents tell what they did; SEED=<n> TIMES=<n>
	SWEEP_INGESTION=$(or $(TIMES),100) SWEEP_SEED=$(or $(SEED),$(shell date +%Y%m%d)) npm run -s sweep-ingestion

sweep-browsers: node_modules/.installed ## sessions lose their browsers at 200 moments of work; SEED=<n> TIMES=<n> RUNTIME=process|docker|kubernetes
	SWEEP_BROWSERS=$(or $(TIMES),200) SWEEP_SEED=$(or $(SEED),$(shell date +%Y%m%d)) \
	$(if $(RUNTIME),SWEEP_RUNTIME=$(RUNTIME)) npm run -s sweep-browsers

bench: node_modules/.installed ## figures with floor, peer and target; ONLY=<prefix> runs a part, WRITE=docs its page, ROWS=<n> of resources and ingest, TELL=<n> of ingest
	npm run -s bench -- $(if $(ONLY),--only $(ONLY)) $(if $(WRITE),--write $(WRITE)) $(if $(ROWS),--rows $(ROWS)) $(if $(TELL),--tell $(TELL))

screens: node_modules/.installed ## pictures of the pages that are shipped, into dist/screens, and into docs/screens where the docs show them; needs a Chromium; ONLY=<prefix> takes a part
	$(node) tools/docs/page-shots.ts $(ONLY)
	$(if $(filter-out view%,$(ONLY)),,$(node) tools/docs/view-shots.ts)
	$(if $(filter-out dashboard%,$(ONLY)),,$(node) tools/docs/dashboard-shots.ts)

archives: node_modules/.installed ## a solved session of each template, exported into test/support/archives
	$(node) tools/docs/archives.ts

docs: node_modules/.installed ## the pages and pictures that are made by running the code: of docs/, and the chart's README
	$(node) tools/docs/main.ts

prices: node_modules/.installed ## the table of built-in models, from a file that lists them as GET /models does; FILE=<file>
	$(node) tools/docs/model-prices.ts $(FILE)

audit: node_modules/.installed ## known flaws of the packages that are shipped, where a registry tells them
	$(node) tools/docs/audit.ts

dev: node_modules/.installed ## the service on this machine, until Ctrl-C
	npm run -s svc -- up

base-image: node_modules/.installed ## the bases of images from Debian packages, where no registry is reached
	images/build-base-image.sh import host
	images/build-base-image.sh import browser

images: node_modules/.installed ## every image; SVC_IMAGE_TAG, SVC_IMAGE_REGISTRY and SVC_BASE_IMAGE are heeded
	$(node) orchestrator/main.ts images

node_modules/.installed: package.json package-lock.json
	npm ci --no-fund --no-audit
	touch $@

clean:
	rm -rf node_modules .svc bench.json
