/** Tests clients by the built `fleetbed conform client`, as their authors do. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ClientTestResult,
  readClientTestResult,
  type TestedDuty,
} from '../../../conformance/client-judge/report/client-test-result.ts';
import { builtCommand, runCommand } from '../../testing/built-command.ts';
import { exampleSource } from '../../testing/example-client.ts';

const simulator = [
  `'${process.execPath}' '${builtCommand}' simulate --url {server} --ca {ca} --state {dir}/state`,
  '--devices 1 --keys ecdsa=1 --poll 1s --poll-jitter 0.1 --inventory 1h --connect',
  "--back-off 'kind: equal-jitter, min: 2s, max: 8s'",
].join(' ');
const python = `python3 '${exampleSource('client.py')}' --server {server} --ca {ca} --dir {dir} --interval 1`;

/** Clients that meet every duty, with the command that starts each. */
export const goodClients: readonly (readonly [name: string, command: string])[] = [
  ['a simulated device', simulator],
  ['the example client in Python', python],
];

/** A client test with the exit code of its command. */
export interface ClientTestRun {
  readonly code: number | null;
  readonly testResult: ClientTestResult;
  /** The broken duties, each with the scene and the sentence of its first violation. */
  readonly broken: readonly string[];
  /** The MUSTs that nothing tested, with the reason. */
  readonly unmetMusts: readonly string[];
  readonly stderr: string;
}

/** Tests a client. @param args further options of the command */
export async function runClientTestCommand(
  command: string,
  args: readonly string[],
): Promise<ClientTestRun> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetbed-client-test-'));
  const file = join(folder, 'report.json');
  const options = ['--command', command, '--report', `json=${file}`];
  try {
    const { code, stderr } = await runCommand(['conform', 'client', ...options, ...args]);
    const testResult = readClientTestResult(readFileSync(file, 'utf8'));
    const unmet = ({ level, state }: TestedDuty) => level === 'must' && state === 'not-tested';
    return {
      code,
      testResult,
      stderr,
      broken: testResult.duties
        .filter(({ state }) => state === 'broken')
        .map(({ duty, violations: [first] }) => `${duty} in ${first?.scene}: ${first?.message}`),
      unmetMusts: testResult.duties
        .filter(unmet)
        .map(({ duty, reason = '' }) => `${duty}: ${reason}`),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
