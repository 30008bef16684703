import { describe, expect, it } from 'vitest';
import { runCommand } from '../testing/built-command.ts';
import { runOnTerminal } from '../testing/pseudo-terminal.ts';

describe('the option --quiet', { timeout: 60_000 }, () => {
  const fleet = [
    'simulate',
    '--virtual',
    '--devices',
    '2',
    '--duration',
    '1m',
    '--keys',
    'ed25519',
  ];

  it('leaves the result on standard output and standard error empty', async () => {
    const { code, stdout, stderr } = await runCommand([...fleet, '--quiet']);
    expect(stderr).toBe('');
    expect(stdout).toContain('repeat: npx fleetbed simulate');
    expect((await runCommand(fleet)).code).toBe(code);
  });

  it('shows no live line on a terminal', async () => {
    const { written } = await runOnTerminal([...fleet, '-q']);
    expect(written).not.toContain('\r\u001b[K');
    expect(written).toContain('repeat: npx fleetbed simulate');
  });

  it('keeps the errors', async () => {
    const { code, stdout, stderr } = await runCommand([
      'devices',
      '-q',
      '--url',
      'http://127.0.0.1:1',
    ]);
    expect(code).toBeGreaterThan(0);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^fleetbed: .*\n$/);
  });
});
