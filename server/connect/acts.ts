/**
 * What users do on a device's connection, in the words of the audit log: by the field's name of
 * each act, the contract's action and what became different. Spec: AuditLog entry
 */
import type { AuditAction } from '../../fixtures/contract/vocabulary.ts';

interface ConnectAct {
  readonly action: AuditAction;
  readonly change: string;
}

/** Every act. The contract's actions know nothing closer than an update of the device. */
export const connectActs = {
  open_terminal: { action: 'update', change: 'terminal opened' },
  close_terminal: { action: 'update', change: 'terminal closed' },
  open_portforward: { action: 'update', change: 'port forward opened' },
  close_portforward: { action: 'update', change: 'port forward closed' },
  download_file: { action: 'update', change: 'file downloaded' },
  upload_file: { action: 'update', change: 'file uploaded' },
} as const satisfies Readonly<Record<string, ConnectAct>>;

/** Writes an act of the user down; `detail` says more of it, such as a path. */
export type RecordAct = (name: keyof typeof connectActs, detail?: string) => void;
