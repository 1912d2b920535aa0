/** What a kill trial has requested and what was answered: the state of each subject, such as a project or a branch. */

export type State = string

interface Entry<Kind extends string> {
  /** The last acknowledged change, and the state after it. */
  kind: Kind
  now: State
  /** A change that was requested and not answered. */
  next: { readonly kind: Kind; readonly state: State } | null
  /** The state as the server shows it, at this URL. */
  readonly observe: (url: string) => Promise<State>
}

export interface Outcome {
  acknowledged: number
  /** Requests that the kill interrupted, and how many of them have happened. */
  cutOff: number
  happened: number
  lost: string[]
  /** The maximum in milliseconds until everything was as acknowledged. */
  resumed: number
}

export type Outcomes = Record<string, Outcome>

export const outcomesOf = (kinds: readonly string[]): Outcomes =>
  Object.fromEntries(
    kinds.map((kind) => [kind, { acknowledged: 0, cutOff: 0, happened: 0, lost: [] as string[], resumed: 0 }]),
  )

const INTERRUPTED = ['fetch failed', 'terminated']

/** A command that the kill interrupted. */
export class CutOff extends Error {}

export const isInterruption = (error: unknown): boolean =>
  error instanceof CutOff || INTERRUPTED.includes((error as Error).message)

export class Ledger<Kind extends string> {
  readonly #entries = new Map<string, Entry<Kind>>()
  readonly #acknowledged: Kind[] = []
  readonly begun: Kind[] = []
  /** Rejected requests, and failures before the kill. */
  readonly faults: string[] = []
  isKilled = false

  /** Enters a subject with its state before the first change. */
  enter(subject: string, kind: Kind, now: State, observe: Entry<Kind>['observe']): void {
    this.#entries.set(subject, { kind, now, next: null, observe })
  }

  async change<T>(kind: Kind, subject: string, to: State, request: () => Promise<T>): Promise<T> {
    const entry = this.#entries.get(subject)!
    entry.next = { kind, state: to }
    this.begun.push(kind)
    const answer = await request()
    Object.assign(entry, { kind, now: to, next: null })
    this.#acknowledged.push(kind)
    return answer
  }

  /** A request that the kill interrupted is no fault; everything else is, rejections above all. */
  async untilKilled(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!isInterruption(error) || !this.isKilled) this.faults.push((error as Error).message)
    }
  }

  /** Waits until every subject is as acknowledged, or as requested last. What is not so by the deadline is lost. */
  async compare(url: string, outcomes: Outcomes, patience: number): Promise<void> {
    for (const kind of this.#acknowledged) outcomes[kind]!.acknowledged++
    const began = performance.now()
    for (const [subject, { kind, now, next, observe }] of this.#entries) {
      let seen = await observe(url)
      while (seen !== now && seen !== next?.state && performance.now() - began < patience) {
        await new Promise((resolve) => setTimeout(resolve, 20))
        seen = await observe(url)
      }
      if (next) {
        outcomes[next.kind]!.cutOff++
        if (seen === next.state) outcomes[next.kind]!.happened++
      }
      if (seen !== now && seen !== next?.state) {
        const expected = next ? `${now} or ${next.state}` : now
        outcomes[kind]!.lost.push(`${subject} is ${seen}, acknowledged was ${expected}`)
      }
      const last = outcomes[next?.kind ?? kind]!
      last.resumed = Math.max(last.resumed, performance.now() - began)
    }
  }
}
