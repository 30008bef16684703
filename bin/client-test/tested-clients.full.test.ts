import { describe, expect, it } from 'vitest';
import type { SceneName } from '../../conformance/client-judge/scene-names.ts';
import { goodClients, runClientTestCommand } from './testing/tested-client.ts';

/** A short scene of each kind; the whole quick test takes minutes, and is run every night. */
const scenes: readonly SceneName[] = [
  ...(['restart-while-pending', 'rejection', 'token-expiry', 'update', 'update-restart'] as const),
  ...(['legal-variations', 'cut-download', 'wrong-checksum', 'lost-report'] as const),
  'tls-old-version',
];

describe.concurrent('a part of the quick test', { timeout: 180_000 }, () => {
  it.each(goodClients)(
    'runs every scene of the part, and finds no broken duty of %s',
    async (_, command) => {
      const args = scenes.flatMap((scene) => ['--scene', scene]);
      const { broken, testResult, code, stderr } = await runClientTestCommand(command, args);
      expect(broken, stderr).toEqual([]);
      expect({ outcome: testResult.outcome, code }, stderr).toEqual({ outcome: 'met', code: 0 });
      const completed = testResult.scenes.filter(({ outcome }) => outcome === 'completed');
      expect(completed, stderr).toHaveLength(scenes.length + 1);
    },
  );
});
