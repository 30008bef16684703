import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectFolder } from '../testing/documents.ts';
import {
  exportedModules,
  INSTALL_MAX_MS,
  type InstalledPackage,
  installPackage,
} from '../testing/installed-package.ts';

const COMMAND_MAX_MS = 180_000;

let installed: InstalledPackage;

beforeAll(async () => {
  installed = await installPackage();
  installed.link('vitest');
}, INSTALL_MAX_MS);

afterAll(() => installed.close(), COMMAND_MAX_MS);

/** The names that each module exports, in alphabetical order. */
const names = {
  fleetbed: [
    ...['AdminRefusal', 'AwaitTimeout', 'ClientViolationsError', 'FaultPlanError'],
    ...['JournalAssertionError', 'UnfiredFaultsError', 'startTestbed'],
  ],
  'fleetbed/behaviours': ['UpdateFailure', 'defineBehaviour'],
  'fleetbed/conformance': [
    ...['ControlFileError', 'SetupError', 'UnknownIdError', 'listCases', 'renderConformance'],
    'runConformance',
  ],
  'fleetbed/contract': [
    ...['deviceDeploymentStatuses', 'jsonSchema', 'limits', 'managementOperations', 'openPoints'],
    ...['operations', 'reportableStatuses', 'requirements', 'shapes'],
  ],
  'fleetbed/node-test': ['useTestbed'],
  'fleetbed/simulator': [
    ...['BehaviourFileError', 'ClientError', 'IdentityError', 'PlanError', 'StateError'],
    ...['behaviours', 'renderFleet', 'runFleet'],
  ],
} as const;

/** It needs a run of Vitest. */
const ofVitest = 'fleetbed/vitest';

/** A program in TypeScript that uses every module, and in which no type is `any`. */
const program = `
import { startTestbed, type Testbed } from 'fleetbed';
import { defineBehaviour } from 'fleetbed/behaviours';
import { type ConformanceResult, runConformance } from 'fleetbed/conformance';
import { type DeploymentStatus, operations, shapes } from 'fleetbed/contract';
import { useTestbed } from 'fleetbed/node-test';
import { type FleetResult, runFleet } from 'fleetbed/simulator';
import { useTestbed as useInVitest } from 'fleetbed/vitest';
import { expect } from 'vitest';

type IsAny<T> = 0 extends 1 & T ? true : false;
type Resolved<Asked extends (...given: never[]) => unknown> = Awaited<ReturnType<Asked>>;
export const isUntyped: readonly [
  IsAny<Resolved<typeof startTestbed>>,
  IsAny<ReturnType<typeof defineBehaviour>>,
  IsAny<Resolved<typeof runConformance>>,
  IsAny<DeploymentStatus['status']>,
  IsAny<Resolved<typeof useTestbed>>,
  IsAny<FleetResult['devices'][number]['outcome']>,
  IsAny<ConformanceResult['verdicts'][number]['verdict']>,
  IsAny<(typeof operations)['get-artifact']['method']>,
  IsAny<typeof shapes.artifact>,
] = [false, false, false, false, false, false, false, false, false];

export async function updated(testbed: Testbed): Promise<number> {
  const { baseUrl: url, adminEmail: email, adminPassword: password } = testbed;
  const result = await runFleet({ url, devices: 3, poll: '1s', acceptWith: { email, password } });
  return result.funnel.success;
}

export async function check(): Promise<void> {
  const testbed = await useInVitest({ autoAccept: true });
  expect(testbed.device('A-1')).toHaveReported('downloading', 'success');
  // @ts-expect-error no device reports this
  expect(testbed.device('A-1')).toHaveReported('finished');
  // @ts-expect-error no such member of a plan
  await runFleet({ url: testbed.baseUrl, device: 3 });
  const { body } = await testbed.admin.call('count-devices', {});
  expect(body.count + 1).toBe(1);
}
`;

/** Returns the first example of a guide that imports a module. */
function exampleOf(module: string, guide = 'server/guide.md'): string {
  const text = readFileSync(join(projectFolder, guide), 'utf8');
  const blocks = [...text.matchAll(/```[jt]s\n(.*?)```/gs)].map(([, block = '']) => block);
  const example = blocks.find((block) => block.includes(`from '${module}'`));
  if (example === undefined) throw new Error(`${guide} has no example of ${module}`);
  return example;
}

describe('the exports of the npm package', () => {
  it('are the listed modules', () => {
    expect([...exportedModules].sort()).toEqual([...Object.keys(names), ofVitest].sort());
  });

  it.each(Object.entries(names))(
    '%s exports the listed names to import and to require',
    async (module, expected) => {
      const { run, write } = installed;
      const print = 'console.log(Object.keys(found).sort().join())';
      write('import.mjs', `import * as found from '${module}';\n${print}`);
      write('require.cjs', `const found = require('${module}');\n${print}`);
      for (const file of ['import.mjs', 'require.cjs']) {
        const { stdout, stderr } = await run(process.execPath, file);
        expect([file, stdout.trim().split(','), stderr]).toEqual([file, [...expected], '']);
      }
    },
    COMMAND_MAX_MS,
  );

  it.each([
    ['node16', 'node16'],
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])(
    'have complete types with `module` %s and `moduleResolution` %s',
    async (module, moduleResolution) => {
      const { write, run } = installed;
      const strict = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false };
      const compilerOptions = {
        target: 'es2023',
        module,
        moduleResolution,
        types: ['node'],
        noEmit: true,
        ...strict,
      };
      const programs = {
        'use.ts': program,
        'fleet.ts': exampleOf('fleetbed/simulator', 'simulator/guide.md'),
        'suite.ts': exampleOf('fleetbed/conformance', 'conformance/guide.md'),
      };
      write('tsconfig.json', JSON.stringify({ compilerOptions, files: Object.keys(programs) }));
      for (const [name, text] of Object.entries(programs)) write(name, text);
      const compiler = join(projectFolder, 'node_modules/typescript/lib/tsc.js');
      const { stdout } = await run(process.execPath, compiler, '-p', 'tsconfig.json').catch(
        (error: { stdout: string }) => error,
      );
      expect(stdout).toBe('');
    },
    COMMAND_MAX_MS,
  );
});

describe('the examples of the guide in a project with the npm package', () => {
  it(
    'pass in Vitest, and fail when the device misbehaves',
    async () => {
      const { run, write } = installed;
      write('vitest.config.mjs', 'export default {};');
      const example = exampleOf('fleetbed/vitest');
      const vitest = async (text: string) => {
        write('device.test.ts', text);
        const args = ['node_modules/vitest/vitest.mjs', 'run', '--reporter', 'json'];
        return run(process.execPath, ...args).then(
          ({ stdout }) => JSON.parse(stdout),
          ({ stdout }: { stdout: string }) => JSON.parse(stdout),
        );
      };
      expect(await vitest(example)).toMatchObject({ numPassedTests: 1, numFailedTests: 0 });
      const failing = example.replace(
        "poll: '200ms'",
        "poll: '200ms', behaviour: { 'failing-install': 1 }",
      );
      const { numFailedTests, testResults } = await vitest(failing);
      expect(numFailedTests).toBe(1);
      expect(testResults[0].assertionResults[0].failureMessages[0]).toContain('Seen instead: ');
    },
    COMMAND_MAX_MS,
  );

  it(
    'pass in node:test, after which no server keeps the process running',
    async () => {
      const { run, write } = installed;
      write('device.test.mjs', exampleOf('fleetbed/node-test'));
      const { stdout } = await run(process.execPath, '--test', 'device.test.mjs');
      expect(stdout).toMatch(/^# pass 1$/m);
    },
    COMMAND_MAX_MS,
  );
});
