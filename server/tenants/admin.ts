/** The admin that the server prints at its start; created at the first start, and then reused. */
import type { Clock } from '../../fixtures/base/clock.ts';
import type { Random } from '../../fixtures/base/random.ts';
import { hashPassword, verifyPassword } from '../crypto/passwords.ts';
import type { TokenIssuer } from '../crypto/tokens.ts';
import { SettingError, type Settings } from '../settings.ts';
import type { DataFolder } from '../store/folder/data-folder.ts';
import { createAdmin, preparedAdmin, type Tenants } from './tenants.ts';
import { issueUserToken } from './user-tokens.ts';

/** The credentials of the admin, with a token for the management API. */
export interface LoggedInAdmin {
  readonly adminEmail: string;
  /** Empty if the password was changed since it was generated: only its hash is stored. */
  readonly adminPassword: string;
  /** The admin's access token for the management API. */
  readonly adminToken: string;
}

/** The services needed to find or create the admin. */
interface AdminServices {
  readonly tenants: Tenants;
  readonly settings: Settings;
  readonly tokenIssuer: TokenIssuer;
  readonly clock: Clock;
  readonly random: Random;
}

const passwordSecret = 'admin password';

/**
 * Returns the admin named by the settings; creates the user if missing. A password in the settings
 * replaces the user's.
 * @throws SettingError when the email address belongs to a user of another tenant
 */
export async function loggedInAdmin(
  services: AdminServices,
  data: DataFolder | undefined,
): Promise<LoggedInAdmin> {
  const { tenants, settings, clock } = services;
  const { id: userId, email, password } = await adminOf(services, data);
  const lifetimeSeconds = settings.tokenLifetimeSeconds;
  const tokenRequest = { userId, kind: 'first', nowMs: clock.now(), lifetimeSeconds } as const;
  return {
    adminEmail: email,
    adminPassword: password,
    adminToken: issueUserToken(services, tenants.first, tokenRequest),
  };
}

async function adminOf(services: AdminServices, data: DataFolder | undefined) {
  const { tenants, settings, random, clock } = services;
  const { adminEmail: email, adminPassword: password } = settings;
  const { store } = tenants.first;
  const storedUser = store.users.findByEmail(email);
  if (storedUser && password === undefined) {
    const storedPassword =
      (await data?.secret(passwordSecret, () => Buffer.alloc(0)))?.toString() ?? '';
    return {
      ...storedUser,
      password: (await verifyPassword(storedPassword, storedUser.passwordHash))
        ? storedPassword
        : '',
    };
  }
  if (storedUser && password !== undefined) {
    const passwordHash = await hashPassword(password, random);
    store.users.change(storedUser.id, { passwordHash }, clock.now());
    return { ...storedUser, password };
  }
  if (tenants.findByEmail(email)) {
    throw new SettingError(
      `admin email "${email}" is in use in another tenant of this data folder; choose another address`,
    );
  }
  const adminData = await preparedAdmin({ email, password }, { random });
  const admin = createAdmin(tenants.first, adminData, { clock });
  // A generated password is stored to be shown at the next start; otherwise it would be lost.
  if (password === undefined) data?.keepSecret(passwordSecret, Buffer.from(admin.password));
  return admin;
}
