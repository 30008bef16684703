import { describe, expect, it } from 'vitest';
import type { SceneName } from '../../conformance/clients/scene-names.ts';
import { examined, goodClients } from './testing/examined-client.ts';

/** A short scene of each kind; the whole quick examination takes minutes, and is played every night. */
const scenes: readonly SceneName[] = [
  ...(['restart-while-pending', 'rejection', 'token-expiry', 'update', 'update-restart'] as const),
  ...(['legal-variations', 'cut-download', 'wrong-checksum', 'lost-report'] as const),
  'tls-old-version',
];

describe.concurrent('a part of the quick examination', { timeout: 180_000 }, () => {
  it.each(goodClients)(
    'plays every scene of it, and finds nothing broken in %s',
    async (_, command) => {
      const args = scenes.flatMap((scene) => ['--scene', scene]);
      const { broken, examination, code, stderr } = await examined(command, args);
      expect(broken, stderr).toEqual([]);
      expect({ outcome: examination.outcome, code }, stderr).toEqual({ outcome: 'kept', code: 0 });
      const played = examination.scenes.filter(({ outcome }) => outcome === 'played');
      expect(played, stderr).toHaveLength(scenes.length + 1);
    },
  );
});
