/**
 * User actions on a device's connection as audit log entries: by the reference implementation's
 * name of each, the contract's action and the change. Spec: AuditLog entry
 */
import type { AuditAction } from '../../fixtures/contract/vocabulary.ts';

interface ConnectAct {
  readonly action: AuditAction;
  readonly change: string;
}

/** Every action. The closest of the contract's actions is an update of the device. */
export const connectActions = {
  open_terminal: { action: 'update', change: 'terminal opened' },
  close_terminal: { action: 'update', change: 'terminal closed' },
  open_portforward: { action: 'update', change: 'port forward opened' },
  close_portforward: { action: 'update', change: 'port forward closed' },
  download_file: { action: 'update', change: 'file downloaded' },
  upload_file: { action: 'update', change: 'file uploaded' },
} as const satisfies Readonly<Record<string, ConnectAct>>;

/** Records an action of the user; `detail` adds to it, such as a path. */
export type RecordAct = (name: keyof typeof connectActions, detail?: string) => void;
