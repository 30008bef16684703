/**
 * User actions on a device's connection, recorded as audit log entries. Maps the reference
 * implementation's name of each action to an action of the contract and a change text.
 * Spec: AuditLog entry
 */
import type { AuditAction } from '../../fixtures/contract/vocabulary.ts';

interface ConnectAction {
  readonly action: AuditAction;
  readonly change: string;
}

/**
 * All recorded actions. `update` of the device is the contract's closest action to each of them.
 */
export const connectActions = {
  open_terminal: { action: 'update', change: 'terminal opened' },
  close_terminal: { action: 'update', change: 'terminal closed' },
  open_portforward: { action: 'update', change: 'port forward opened' },
  close_portforward: { action: 'update', change: 'port forward closed' },
  download_file: { action: 'update', change: 'file downloaded' },
  upload_file: { action: 'update', change: 'file uploaded' },
} as const satisfies Readonly<Record<string, ConnectAction>>;

/** Records an action of the user; `detail` adds information such as a path. */
export type RecordAction = (name: keyof typeof connectActions, detail?: string) => void;
