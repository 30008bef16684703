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
export function askUser(wording: Omit<ConfirmQuestion, 'answer'>): Promise<boolean> {
  return new Promise((resolve) => {
    question.value = {
      ...wording,
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
  const openQuestion = question.value;
  useEffect(() => {
    if (openQuestion) dialog.current?.showModal();
  }, [openQuestion]);
  if (!openQuestion) return null;
  return (
    <dialog
      ref={dialog}
      class="question"
      aria-labelledby="question-title"
      onCancel={() => openQuestion.answer(false)}
    >
      <h2 id="question-title">{openQuestion.title}</h2>
      <p>{openQuestion.text}</p>
      <div class="actions">
        <button type="button" class="kit-button" onClick={() => openQuestion.answer(false)}>
          Cancel
        </button>
        <button
          type="button"
          class="kit-button"
          data-kind="danger"
          onClick={() => openQuestion.answer(true)}
        >
          {openQuestion.action}
        </button>
      </div>
    </dialog>
  );
}
