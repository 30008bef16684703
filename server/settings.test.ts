import { describe, expect, it } from 'vitest';
import { completeSettings, defaultSettings, SettingError, type Settings } from './settings.ts';

describe('completed settings', () => {
  it('equal the documented defaults when nothing is chosen', () => {
    expect(completeSettings({})).toEqual({
      host: '127.0.0.1',
      port: 8080,
      controlHost: '127.0.0.1',
      controlPort: 8081,
      adminEmail: 'admin@example.com',
      autoAccept: false,
      deviceLimit: -1,
      unacceptedKeysMax: 100_000,
      transferIdleMs: 60_000,
      transferRateMin: 100,
      headerPrefix: 'X-SVC',
      tokenLifetimeSeconds: 604_800,
      linkLifetimeSeconds: 86_400,
      spreadsheetSafeCsv: false,
      trustProxy: false,
      dialects: new Set(),
      provisioningDelayMs: 1000,
      variations: new Set(),
      journalEntriesMax: 10_000,
      journalBytesMax: 67_108_864,
      logLevel: 'info',
      explainHeader: false,
    });
  });

  it('keep a default for an undefined choice', () => {
    const given = { host: undefined, adminPassword: undefined } as unknown as Partial<Settings>;
    expect(completeSettings(given)).toEqual(defaultSettings);
  });

  it('keep every chosen value, even 0 and false', () => {
    const chosen = {
      host: '0.0.0.0',
      controlHost: '::',
      port: 0,
      controlPort: 0,
      adminEmail: 'me@test',
      adminPassword: 'eight888',
      autoAccept: true,
      deviceLimit: 0,
      unacceptedKeysMax: 1,
      transferIdleMs: 1000,
      transferRateMin: 0,
      headerPrefix: 'X-MEN',
      tokenLifetimeSeconds: 1,
      linkLifetimeSeconds: 315_360_000,
      spreadsheetSafeCsv: true,
      trustProxy: true,
      dialects: new Set(['rs256'] as const),
      provisioningDelayMs: 0,
      variations: new Set(['chunked'] as const),
      journalEntriesMax: 0,
      journalBytesMax: 65_536,
      logLevel: 'silent',
      explainHeader: true,
    } as const;
    expect(completeSettings(chosen)).toEqual(chosen);
  });

  it('do not modify the defaults', () => {
    const settingsBefore = { ...defaultSettings };
    completeSettings({ port: 1 });
    expect(defaultSettings).toEqual(settingsBefore);
  });
});

describe('an invalid setting', () => {
  it.each<[Partial<Settings>, string]>([
    [{ headerPrefix: '' }, 'headerPrefix must be letters, digits and single inner dashes'],
    [{ headerPrefix: 'X SVC' }, 'such as X-SVC, not "X SVC"'],
    [{ headerPrefix: 'X-SVC\n' }, 'such as X-SVC, not "X-SVC\n"'],
    [{ tokenLifetimeSeconds: 0 }, 'tokenLifetimeSeconds must be a whole number from 1'],
    [{ tokenLifetimeSeconds: -60 }, 'not -60'],
    [{ tokenLifetimeSeconds: 0.5 }, 'not 0.5'],
    [{ tokenLifetimeSeconds: Number.NaN }, 'not NaN'],
    [{ tokenLifetimeSeconds: Number.POSITIVE_INFINITY }, 'not Infinity'],
    [{ linkLifetimeSeconds: 0 }, 'linkLifetimeSeconds must be a whole number from 1 to 315360000'],
    [{ linkLifetimeSeconds: 315_360_001 }, 'not 315360001'],
    [{ deviceLimit: -2 }, 'deviceLimit must be a whole number from 0 to 1000000, not -2'],
    [{ deviceLimit: 0.5 }, 'not 0.5'],
    [{ unacceptedKeysMax: 0 }, 'unacceptedKeysMax must be a whole number from 1 to 1000000, not 0'],
    [{ unacceptedKeysMax: 0.5 }, 'not 0.5'],
    [
      { variations: new Set(['chunk'] as never) },
      'variation "chunk" is unknown; the variations are request-ids',
    ],
    [
      { dialects: new Set(['none'] as never) },
      'dialect "none" is unknown; the dialects are open-source',
    ],
    [{ provisioningDelayMs: -1 }, 'provisioningDelayMs must be a whole number from 0 to 3600000'],
    [{ provisioningDelayMs: 3_600_001 }, 'not 3600001'],
    [{ adminEmail: '' }, 'adminEmail must be an email address'],
    [{ adminEmail: 'admin' }, 'such as admin@example.com, not "admin"'],
    [{ adminEmail: 'a:b@example.com' }, 'such as admin@example.com'],
    [{ adminEmail: 'a b@example.com' }, 'such as admin@example.com'],
    [{ adminEmail: 'a@b@c' }, 'such as admin@example.com'],
    [{ adminPassword: '' }, 'adminPassword must be at least 8 characters'],
    [{ adminPassword: 'seven77' }, 'adminPassword must be at least 8 characters'],
  ])('is refused with name, value and remedy: %o', (given, sentence) => {
    expect(() => completeSettings(given)).toThrow(SettingError);
    expect(() => completeSettings(given)).toThrow(sentence);
  });

  it('is not shown in the error if it is a password', () => {
    expect(() => completeSettings({ adminPassword: 'secret' })).not.toThrow('secret');
    expect(() => completeSettings({ adminPassword: 'secret' })).toThrow();
  });
});
