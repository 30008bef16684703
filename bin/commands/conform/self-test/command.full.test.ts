import { describe, expect, it } from 'vitest';
import { allDefects } from '../../../../conformance/self-test/defects/index.ts';
import { runCommand, startCommand } from '../../../testing/built-command.ts';

const RUN_MAX_MS = 120_000;

function selfTest(...args: readonly string[]) {
  return runCommand(['conform', 'self-test', ...args]);
}

describe('fleetbed conform self-test', () => {
  it('lists every defect with its sentence, and runs none of them', async () => {
    const { code, stdout } = await selfTest('--list');
    expect(code).toBe(0);
    for (const { id, title } of allDefects) expect(stdout).toContain(`${id}  ${title}`);
  });

  it('lists the defects as one JSON value with --json', async () => {
    const { code, stdout } = await selfTest('--list', '--json', 'range-');
    expect(code).toBe(0);
    const listed: { id: string; violates: string[] }[] = JSON.parse(stdout);
    expect(listed.length).toBeGreaterThan(0);
    expect(listed.every(({ id }) => id.startsWith('range-'))).toBe(true);
  });

  it('refuses a prefix that no defect ID starts with', async () => {
    const { code, stderr } = await selfTest('no-such-defect');
    expect(code).toBe(2);
    expect(stderr).toContain('no defect has an ID that starts with "no-such-defect"');
  });

  it('refuses an unwritable file for the page', async () => {
    const { code, stderr } = await selfTest('range-', '--html', '/nowhere/at/all/matrix.html');
    expect(code).toBe(3);
    expect(stderr).toContain('--html cannot write');
  });

  it(
    'runs a defect in its own process, and lists the cases that kill it',
    async () => {
      const { code, stdout, stderr } = await selfTest(
        ...['status-report-after-abort-is-204', '--cases', 'deployment-states/', '--json'],
        ...['--processes', '2'],
      );
      expect(stderr).not.toContain('Warning');
      const { rows, totals } = JSON.parse(stdout);
      expect(rows[0]).toMatchObject({ outcome: 'killed', falseFailures: [], suiteErrors: [] });
      expect(rows[0].proves).toEqual(['status.aborted-is-409']);
      expect(totals).toMatchObject({ defects: 1, killed: 1 });
      expect(code).toBe(0);
    },
    RUN_MAX_MS,
  );

  it(
    'fails when no case kills a defect',
    async () => {
      const { code, stdout } = await selfTest(
        ...['status-report-after-abort-is-204', '--cases', 'service/'],
      );
      expect(code).toBe(1);
      expect(stdout).toContain('1 defects: 0 killed, 0 survived, 1 not exercised');
    },
    RUN_MAX_MS,
  );

  it(
    'prints partial results at Ctrl-C, and says that the run was interrupted',
    async () => {
      const running = startCommand(['conform', 'self-test', '--cases', 'service/']);
      await running.waitForOutput('stderr', /running every case without a defect/);
      const { code, stdout } = await running.end('SIGINT');
      expect(code).toBe(130);
      expect(stdout).toContain('interrupted before every defect was run');
    },
    RUN_MAX_MS,
  );
});
