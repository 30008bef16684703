import { expect, it } from 'vitest';
import { startCommand } from '../testing/built-command.ts';

it('a run continues and prints its result when standard error is closed', async () => {
  const args = ['simulate', '--virtual', '--devices', '3', '--duration', '10m'];
  const running = startCommand(args);
  running.child.stderr?.destroy();
  const { code, stdout } = await running.ended;
  expect(stdout).toContain('3 devices: PASSED');
  expect(code).toBe(0);
});
