/**
 * A test runner for Stryker that runs the suite in its own process: a mutant is only switched on,
 * so that nothing is loaded anew between two. It runs what is built in the sandbox.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What the instrumented code reads and counts in. */
globalThis.__stryker__ ??= {};
const mutants = globalThis.__stryker__;

let crash = '';
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => {
    crash ||= `regression: the server ended: ${error}`;
  });
}

const failed = (error) => ({ change: `regression: the server failed: ${error}` });

/** A run that is not green any more; other changes are of what the contract leaves open. */
const isWorse = (change) => /^(regression|undecided-now):/.test(change);

class SuiteRunner {
  static inject = [];

  capabilities() {
    return { reloadEnvironment: false };
  }

  async init() {
    // The compiler leaves the files that the suite uploads where they are.
    cpSync('fixtures/vectors', 'build/fixtures/vectors', { recursive: true });
  }

  /** Loads the server once a mutant is switched on, as some are only in what is made while it loads. */
  async load() {
    const built = join(process.cwd(), 'build', 'bin', 'testing', 'mutation', 'suite-tests.js');
    return (await import(pathToFileURL(built).href)).suiteTests;
  }

  /** Records the results without mutants, and which mutants each test reaches. */
  async dryRun() {
    const tests = [];
    for (const { id, run } of await this.load()) {
      // What a test leaves to run after it is its own too: it stays the current one until the next.
      mutants.currentTestId = id;
      await run();
      const { change, elapsedMs } = await run();
      const status = change === '' ? 0 : 1;
      tests.push({ id, name: id, timeSpentMs: elapsedMs, status, failureMessage: change });
    }
    return { status: 'complete', tests, mutantCoverage: mutants.mutantCoverage };
  }

  async mutantRun({ activeMutant, testFilter, hitLimit }) {
    Object.assign(mutants, { activeMutant: activeMutant.id, hitCount: 0, hitLimit });
    crash = '';
    let seen = { status: 'survived' };
    try {
      const all = await this.load();
      const tests = all.filter(({ id }) => testFilter?.includes(id) ?? true);
      for (const { id, run } of tests) {
        const { change } = await run().catch(failed);
        if (mutants.hitCount > hitLimit) return { status: 'timeout', reason: 'it runs for ever' };
        const failureMessage = crash || change;
        if (failureMessage === '') continue;
        if (!('killedBy' in seen) || isWorse(failureMessage)) {
          seen = { status: 'killed', killedBy: [id], failureMessage };
        }
        if (isWorse(failureMessage)) break;
      }
      return { ...seen, nrOfTests: tests.length };
    } catch (error) {
      const failureMessage = `regression: the server does not load: ${error}`;
      return { status: 'killed', killedBy: [], failureMessage, nrOfTests: 0 };
    } finally {
      Object.assign(mutants, { activeMutant: undefined, hitCount: undefined });
    }
  }
}

export const strykerPlugins = [{ kind: 'TestRunner', name: 'suite', injectableClass: SuiteRunner }];
