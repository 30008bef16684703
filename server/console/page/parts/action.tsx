/** Buttons that run an action on the server and show its result. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { after } from '../api/browser-clock.ts';
import { reasonOf } from '../api/client.ts';
import { askUser } from '../confirm.tsx';

const NOTICE_MS = 8000;

interface Notice {
  readonly text: string;
  readonly isError: boolean;
}

const notice = signal<Notice | undefined>(undefined);

/** Shows a message for some seconds. */
function showNotice(text: string, isError = false): void {
  const message = { text, isError };
  notice.value = message;
  after(NOTICE_MS, () => {
    if (notice.value === message) notice.value = undefined;
  });
}

/** Renders the current message. */
export function Notices() {
  return (
    <output
      class="notice"
      aria-live="polite"
      data-tone={notice.value?.isError ? 'negative' : 'positive'}
    >
      {notice.value?.text ?? ''}
    </output>
  );
}

/** Runs the work and shows how it ended. Returns false if it failed. */
export async function attempt(work: () => Promise<unknown>, done: string): Promise<boolean> {
  try {
    await work();
    showNotice(done);
    return true;
  } catch (error) {
    showNotice(reasonOf(error), true);
    return false;
  }
}

/** A button that runs one action at a time. With `asks`, the user has to confirm first. */
export function ActionButton({
  children,
  work,
  done,
  kind = '',
  asks,
  isDisabled = false,
}: {
  children: ComponentChildren;
  work: () => Promise<unknown>;
  /** The message to show after success. */
  done: string;
  kind?: 'main' | 'danger' | 'small' | '';
  asks?: { readonly title: string; readonly text: string; readonly action: string };
  isDisabled?: boolean;
}) {
  const [isBusy, setBusy] = useState(false);
  const press = async (): Promise<void> => {
    if (asks && !(await askUser(asks))) return;
    setBusy(true);
    await attempt(work, done);
    setBusy(false);
  };
  return (
    <button
      type="button"
      class="kit-button"
      data-kind={kind}
      disabled={isBusy || isDisabled}
      onClick={press}
    >
      {children}
    </button>
  );
}
