/** The last errors that a forge logged: the answer of a 500 says nothing about its cause. */
const MOST_KEPT = 20

export class FaultLog {
  #lines: string[] = []

  write(line: string): void {
    this.#lines = [...this.#lines, line].slice(-MOST_KEPT)
  }

  last(): string {
    const line = this.#lines.at(-1)
    if (line === undefined) return 'see its log'
    const { err, msg } = JSON.parse(line) as { err?: { message?: string }; msg?: string }
    return err?.message ?? msg ?? line
  }

  clear(): void {
    this.#lines = []
  }
}
