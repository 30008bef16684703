import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { type RunningCommand, startCommand } from '../../testing/built-command.ts';
import {
  abridgeOutput,
  isDemo,
  shownOutputs,
  withoutChangingValues,
} from '../../testing/documents.ts';

const DEMO_MAX_MS = 120_000;

describe('fleetbed demo', () => {
  let demo: RunningCommand;

  afterEach(() => demo.end('SIGKILL'));

  it('runs until Ctrl-C with a connected fleet, whose devices are the only ones', {
    timeout: DEMO_MAX_MS,
  }, async () => {
    demo = startCommand(['demo']);
    await demo.waitForOutput('stderr', /press Ctrl-C to stop/);
    const output = await demo.waitForOutput('stdout', /#token=\S+\n/);
    for (const part of [/│ success +│ 7 +│ 7 +│ 7 +│ 21 /, /Suite: pass/, /URL {7}http:/]) {
      expect(output).toMatch(part);
    }
    const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
    const { output: documented = '' } = shownOutputs(readme).find(isDemo) ?? {};
    // README omits the progress on standard error, and also the addresses for --exit.
    const results = output.slice(0, output.indexOf('\nURL '));
    expect(withoutChangingValues(abridgeOutput(`\n${results}`, documented)), 'npm run docs').toBe(
      withoutChangingValues(documented),
    );
    const controlUrl = /Control +(\S+)/.exec(output)?.[1];
    expect((await fetch(`${controlUrl}/ready`)).status).toBe(200);
    const [, email = '', password = ''] = /User +(\S+) with password (\S+)/.exec(output) ?? [];
    const url = /URL +(\S+)/.exec(output)?.[1] ?? '';
    const send = (method: string, path: string, authorization: string) =>
      fetch(url + path, { method, headers: { Authorization: authorization } });
    const basic = Buffer.from(`${email}:${password}`).toString('base64');
    const login = pathOf(managementOperations.login);
    const token = await (await send('POST', login, `Basic ${basic}`)).text();
    const list = async (operation: 'list-devices' | 'list-deployments') =>
      (
        await send(
          'GET',
          `${pathOf(managementOperations[operation])}?per_page=100`,
          `Bearer ${token}`,
        )
      ).json();
    expect(await list('list-devices')).toHaveLength(30);
    expect(await list('list-deployments')).toMatchObject([{ name: 'demo' }]);
    const [, id = ''] = /fleetbed terminal .* (\S+)\n/.exec(output) ?? [];
    const connection = pathOf(managementOperations['get-connection'], { id });
    const response = await send('GET', connection, `Bearer ${token}`);
    expect(await response.json()).toMatchObject({ status: 'connected' });
    expect((await demo.end('SIGINT')).code).toBe(0);
    await expect(fetch(`${controlUrl}/ready`)).rejects.toThrow();
  });
});
