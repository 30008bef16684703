import { describe, expect, it } from 'vitest';
import { UpdateFailure } from './behaviour.ts';
import { behaviours } from './catalogue.ts';

function whileInstalling(name: string, askForAbort: () => Promise<boolean>) {
  const lines: string[] = [];
  const log = (level: string, message: string) => lines.push(`${level} ${message}`);
  const installing = behaviours.get(name)?.hooks.whileInstalling?.({ log, askForAbort });
  return { lines, installing };
}

describe('the catalogue of behaviours', () => {
  it('has the first four, each with a sentence on the device that it stands for', () => {
    expect([...behaviours.keys()]).toEqual([
      'steady',
      'failing-install',
      'aborted-midway',
      'already-installed',
    ]);
    for (const { standsFor } of behaviours.values()) expect(standsFor).toMatch(/^[A-Z].{20,}\.$/);
  });

  it('lets a steady device do nothing out of the ordinary', () => {
    expect(behaviours.get('steady')?.hooks).toEqual({});
  });

  it('makes a failing device write down what fails before it gives up', async () => {
    const { lines, installing } = whileInstalling('failing-install', async () => true);
    await expect(installing).rejects.toBeInstanceOf(UpdateFailure);
    expect(lines.join()).toContain('error writing the payload');
  });

  it.each([
    [true, 'the operator aborted the update'],
    [false, 'nobody could abort it'],
  ])('lets a device whose abort was %s go on to its next report', async (aborted, line) => {
    const { lines, installing } = whileInstalling('aborted-midway', async () => aborted);
    await expect(installing).resolves.toBeUndefined();
    expect(lines).toEqual([`info ${line}`]);
  });

  it('starts an already updated device with what is deployed, or as any other', () => {
    const { installedAtStart } = behaviours.get('already-installed')?.hooks ?? {};
    expect(installedAtStart?.({ deployedArtifact: 'release-2' })).toBe('release-2');
    expect(installedAtStart?.({ deployedArtifact: undefined })).toBeUndefined();
  });
});
