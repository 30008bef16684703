import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { manifest } from '../testing/installed-package.ts';
import { reachesRegistry } from '../testing/registry.ts';

const AGE_MAX_MS = 2 * 365 * 86_400_000;
const LOOK_UP_MAX_MS = 60_000;

const isReached = reachesRegistry('the ages and vulnerabilities of the installed packages');
const audit = isReached ? JSON.parse(npm('audit', '--omit=dev', '--json').stdout) : {};
/** Some registries serve packages, but no audit. */
const isAudited = 'auditReportVersion' in audit;
if (isReached && !isAudited) process.stderr.write('the registry does not answer to npm audit\n');

function npm(...args: readonly string[]) {
  return spawnSync('npm', args, { encoding: 'utf8', timeout: LOOK_UP_MAX_MS });
}

describe('the packages that Fleetbed installs', () => {
  it.skipIf(!isAudited)('have no known vulnerability', () => {
    expect(audit.vulnerabilities).toEqual({});
  });

  it.skipIf(!isReached).each(Object.keys(manifest.dependencies))(
    'had a release within two years: %s',
    { timeout: LOOK_UP_MAX_MS },
    (name) => {
      const times: Readonly<Record<string, string>> = JSON.parse(
        npm('view', name, 'time', '--json').stdout,
      );
      const newest = Math.max(...Object.values(times).map((time) => Date.parse(time)));
      expect(systemClock.now() - newest).toBeLessThan(AGE_MAX_MS);
    },
  );
});
