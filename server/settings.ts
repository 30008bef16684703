/** The server's settings with their defaults and checks. */
import { limits } from '../fixtures/contract/limits.ts';
import { defaultHeaderPrefix, headerPrefixPattern } from '../fixtures/contract/vendor-names.ts';

export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof logLevels)[number];

/** What a user of the server may choose. */
export interface Settings {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  readonly controlPort: number;
  readonly adminEmail: string;
  /** Random when absent. */
  readonly adminPassword?: string;
  /** First contact is still refused; the device is accepted right after it. */
  readonly autoAccept: boolean;
  readonly headerPrefix: string;
  readonly tokenLifetimeSeconds: number;
  readonly linkLifetimeSeconds: number;
  /** Build links from X-Forwarded-Host and X-Forwarded-Proto. */
  readonly trustProxy: boolean;
  readonly logLevel: LogLevel;
}

export const defaultSettings: Settings = {
  host: '127.0.0.1',
  port: 8080,
  controlPort: 8081,
  adminEmail: 'admin@example.com',
  autoAccept: false,
  headerPrefix: defaultHeaderPrefix,
  tokenLifetimeSeconds: limits.tokenLifetimeSeconds,
  linkLifetimeSeconds: limits.linkLifetimeSeconds,
  trustProxy: false,
  logLevel: 'info',
};

/** A setting that the server cannot start with; the message names it, the value and the way out. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

/** Ten years; far beyond that a time cannot be written as a date any more. */
const LIFETIME_MAX_SECONDS = 3650 * 86_400;

/** Fills in defaults. @throws SettingError */
export function completeSettings(given: Partial<Settings>): Settings {
  const known = Object.entries(given).filter(([, value]) => value !== undefined);
  const settings = { ...defaultSettings, ...Object.fromEntries(known) } as Settings;
  requireSetting(
    headerPrefixPattern.test(settings.headerPrefix),
    `header prefix "${settings.headerPrefix}" must be letters, digits and dashes, as X-SVC`,
  );
  for (const name of ['tokenLifetimeSeconds', 'linkLifetimeSeconds'] as const) {
    const seconds = settings[name];
    requireSetting(
      Number.isInteger(seconds) && seconds > 0 && seconds <= LIFETIME_MAX_SECONDS,
      `${name} must be a whole number from 1 to ${LIFETIME_MAX_SECONDS}, not ${seconds}`,
    );
  }
  requireSetting(
    /^[^\s:@]+@[^\s:@]+$/.test(settings.adminEmail),
    `admin e-mail "${settings.adminEmail}" must be an address such as admin@example.com`,
  );
  requireSetting(
    settings.adminPassword === undefined || settings.adminPassword.length >= 8,
    'the admin password must have at least 8 characters',
  );
  return settings;
}

function requireSetting(holds: boolean, sentence: string): void {
  if (!holds) throw new SettingError(sentence);
}
