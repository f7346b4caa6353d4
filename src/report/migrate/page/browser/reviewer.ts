import type { PageVerdict } from '../data.js';

/** What the browser says. */
export interface Saying {
  readonly repository: string;
  /** The plan that it was said about: about another one it counts for nothing. */
  readonly plan: string;
  readonly refs: readonly string[];
  readonly verdict: PageVerdict | null;
}

type Decided = (saying: Saying) => void;

const STOPPED =
  'memfix review has stopped. What was decided before is saved; start it again and open the address that it prints.';
const CHANGED = 'The plan has changed since this page was loaded.';

/** Carries decisions to the campaign, and hears of those made elsewhere. Nothing counts here before it is saved there. */
export class Reviewer {
  constructor(
    private readonly decided: Decided,
    private readonly notify: (words: string, isOver: boolean) => void,
  ) {}

  listen(): void {
    const events = new EventSource('events');
    events.addEventListener('decided', (event) => {
      const saying: Saying = JSON.parse(event.data);
      this.decided(saying);
    });
    events.addEventListener('changed', () => this.notify(CHANGED, false));
    events.addEventListener('open', () => this.notify('', false));
    events.addEventListener('error', () => this.notify(STOPPED, true));
  }

  say(saying: Saying): void {
    void this.#send(saying);
  }

  async #send(saying: Saying): Promise<void> {
    try {
      const answer = await fetch('decisions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(saying),
      });
      if (answer.ok) this.decided(saying);
      else this.notify(`Not saved: ${await answer.text()}`, false);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      this.notify(`Not saved: ${STOPPED}`, true);
    }
  }
}
