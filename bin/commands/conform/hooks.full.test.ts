import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describedSteps } from '../../../conformance/conformance.ts';
import { runCommand } from '../../testing/built-command.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-hooks-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('fleetbed conform hooks', () => {
  it('prints every hook step with its input and its response', async () => {
    const { code, stdout } = await runCommand(['conform', 'hooks']);
    expect(code).toBe(0);
    for (const [step, title, input] of describedSteps()) {
      expect(stdout).toContain(`${step}: ${title}\n  input     {${input}}`);
    }
    expect(stdout).toContain('Exit codes: 0 done; 3 not possible on this server');
  });

  it('prints every hook step as JSON', async () => {
    const { stdout } = await runCommand(['conform', 'hooks', '--json']);
    expect(JSON.parse(stdout)).toContainEqual({
      step: 'accept',
      title: 'accept a device',
      input: 'deviceId, publicKeyPem',
      response: '',
    });
  });
});

describe('fleetbed conform with hooks or capability files', () => {
  it.each([
    ['a file of hooks that is not there', ['--hooks', 'no-such.yml'], 'cannot read no-such.yml', 3],
    ['a capability that there is not', ['--with', 'flight'], 'Accepted: user', 2],
    ['one that is declared both ways', ['--with', 'monitor', '--without', 'monitor'], 'both', 2],
    ['half of the control listener', ['--control-url', 'http://127.0.0.1:1'], 'control-token', 2],
  ])('refuses %s with an exit code and a message', async (_, args, message, exitCode) => {
    const { code, stderr } = await runCommand(['conform', '--anonymous', ...args]);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('secret-of-control');
    expect(code).toBe(exitCode);
  });

  it('refuses unusable files and gives the reason', async () => {
    const hooks = file('hooks.yml', 'command: rm -rf /');
    const refused = await runCommand(['conform', '--hooks', hooks]);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('command: must be a list of strings');
    const capabilities = file('capabilities.yml', 'with: [flight]');
    const unknown = await runCommand(['conform', '--anonymous', '--capabilities', capabilities]);
    expect(unknown).toMatchObject({ code: 2 });
    expect(unknown.stderr).toContain('with.0: must be capabilities: user');
  });
});
