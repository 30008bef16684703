import { describe, expect, it } from 'vitest';
import { goodClients, runClientTestCommand } from './testing/tested-client.ts';

describe('the quick test of a client', { timeout: 900_000 }, () => {
  it.each(goodClients)(
    'finds no broken duty of %s, and says why a MUST was not tested',
    async (_, command) => {
      const { broken, unmetMusts, testResult, code, stderr } = await runClientTestCommand(
        command,
        [],
      );
      expect(broken, stderr).toEqual([]);
      expect({ outcome: testResult.outcome, code }, stderr).toEqual({ outcome: 'met', code: 0 });
      for (const unmet of unmetMusts) expect(unmet).not.toMatch(/did not show|was not run/);
    },
  );
});
