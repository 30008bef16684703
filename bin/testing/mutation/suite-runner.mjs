/**
 * A test runner for Stryker that runs the suite in its own process. It only switches mutants on and
 * off, so that nothing is reloaded between two mutants. It runs the build in Stryker's sandbox.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** State that the instrumented code reads and updates. */
globalThis.__stryker__ ??= {};
const mutants = globalThis.__stryker__;

let crash = '';
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => {
    crash ||= `regression: the server ended: ${error}`;
  });
}

const failureOf = (error) => ({ change: `regression: the server failed: ${error}` });

/**
 * Returns true for a change to a worse verdict; other changes concern points that the contract
 * leaves open.
 */
const isWorse = (change) => /^(regression|undecided-now):/.test(change);

class SuiteRunner {
  static inject = [];

  capabilities() {
    return { reloadEnvironment: false };
  }

  async init() {
    // The compiler does not copy the files that the suite uploads.
    cpSync('fixtures/vectors', 'build/fixtures/vectors', { recursive: true });
  }

  /**
   * Loads the server after a mutant is switched on, because some mutants only affect the loading.
   */
  async load() {
    const built = join(process.cwd(), 'build', 'bin', 'testing', 'mutation', 'suite-tests.js');
    return (await import(pathToFileURL(built).href)).suiteTests;
  }

  /** Records the results without mutants, and the mutants that each test executes. */
  async dryRun() {
    const tests = [];
    for (const { id, run } of await this.load()) {
      // A test can leave work running after its end; that work counts for it until the next test
      // starts.
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
        const { change } = await run().catch(failureOf);
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
