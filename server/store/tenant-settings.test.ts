import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore, type Store } from './store.ts';

let store: Store;

beforeEach(async () => {
  store = await openStore();
});

afterEach(() => store.close());

describe("a tenant's settings", () => {
  it('have no device limit until one is set, and any later one replaces it', () => {
    expect(store.tenantSettings.deviceLimit()).toBeUndefined();
    for (const limit of [5, 0, -1]) {
      store.tenantSettings.setDeviceLimit(limit);
      expect(store.tenantSettings.deviceLimit()).toBe(limit);
    }
  });

  it('enable alert emails until they are switched off', () => {
    const { tenantSettings } = store;
    expect(tenantSettings.sendsAlertEmails()).toBe(true);
    tenantSettings.setAlertEmails(false);
    expect(tenantSettings.sendsAlertEmails()).toBe(false);
    tenantSettings.setAlertEmails(true);
    expect(tenantSettings.sendsAlertEmails()).toBe(true);
  });
});
