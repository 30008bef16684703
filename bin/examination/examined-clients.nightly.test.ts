import { describe, expect, it } from 'vitest';
import { examined, goodClients } from './testing/examined-client.ts';

describe('the quick examination of a client', { timeout: 900_000 }, () => {
  it.each(goodClients)(
    'finds nothing broken in %s, and says why a MUST was not exercised',
    async (_, command) => {
      const { broken, unmetMusts, examination, code, stderr } = await examined(command, []);
      expect(broken, stderr).toEqual([]);
      expect({ outcome: examination.outcome, code }, stderr).toEqual({ outcome: 'kept', code: 0 });
      for (const unmet of unmetMusts) expect(unmet).not.toMatch(/did not show|was not played/);
    },
  );
});
