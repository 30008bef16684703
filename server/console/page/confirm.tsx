/** Asks for confirmation before data is deleted. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

interface ConfirmQuestion {
  readonly title: string;
  readonly text: string;
  /** The label of the button that continues. */
  readonly action: string;
  readonly answer: (isMeant: boolean) => void;
}

const question = signal<ConfirmQuestion | undefined>(undefined);

/** Asks the user, and resolves with true if the user continues. */
export function confirmed(asked: Omit<ConfirmQuestion, 'answer'>): Promise<boolean> {
  return new Promise((resolve) => {
    question.value = {
      ...asked,
      answer: (isMeant) => {
        question.value = undefined;
        resolve(isMeant);
      },
    };
  });
}

/** Renders the open question as a dialog. */
export function Confirmations() {
  const dialog = useRef<HTMLDialogElement>(null);
  const asked = question.value;
  useEffect(() => {
    if (asked) dialog.current?.showModal();
  }, [asked]);
  if (!asked) return null;
  return (
    <dialog
      ref={dialog}
      class="question"
      aria-labelledby="question-title"
      onCancel={() => asked.answer(false)}
    >
      <h2 id="question-title">{asked.title}</h2>
      <p>{asked.text}</p>
      <div class="actions">
        <button type="button" class="kit-button" onClick={() => asked.answer(false)}>
          Cancel
        </button>
        <button
          type="button"
          class="kit-button"
          data-kind="danger"
          onClick={() => asked.answer(true)}
        >
          {asked.action}
        </button>
      </div>
    </dialog>
  );
}
