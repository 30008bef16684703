import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { defectiveSource, violations } from './testing/defective-clients.ts';
import { runClientTestCommand } from './testing/tested-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetbed-defective-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe.concurrent('the client test of a defective client', { timeout: 300_000 }, () => {
  it.each(violations)('names $duty for a client that $does', async (violation) => {
    const { duty, scene, consequences = [] } = violation;
    const file = join(folder, `${violations.indexOf(violation)}.py`);
    writeFileSync(file, defectiveSource(violation));
    const command = `python3 ${file} --server {server} --ca {ca} --dir {dir} --interval 2`;
    const { broken, code, stderr } = await runClientTestCommand(command, [
      '--scene',
      scene,
      '--seed',
      duty,
    ]);
    const named = broken.map((each) => each.split(' ')[0]);
    expect(named.toSorted(), `${broken.join('\n')}\n${stderr}`).toEqual(
      [duty, ...consequences].toSorted(),
    );
    expect(code).toBe(1);
  });
});
