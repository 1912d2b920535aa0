/** Formats the log of a job: sections with titles, and colors. */
import type { JobLog } from './job-log.ts'

const CYAN = '\x1b[36;1m'
export const GREEN = '\x1b[32;1m'
const YELLOW = '\x1b[0;33m'
export const RED = '\x1b[31;1m'
export const RESET = '\x1b[0;m'

export class Sections {
  readonly #log: JobLog
  /** Whether the server supports collapsible sections. */
  readonly #isMarked: boolean

  constructor(log: JobLog, isMarked: boolean) {
    this.#log = log
    this.#isMarked = isMarked
  }

  readonly say = (text: string): Promise<void> => this.#log.write(`${text}\n`)

  readonly warn = (text: string): Promise<void> => this.#log.write(`${YELLOW}WARNING: ${text}${RESET}\n`)

  async section(name: string, title: string, work: () => Promise<void>): Promise<void> {
    const mark = (kind: string) => `section_${kind}:${Math.floor(Date.now() / 1000)}:${name}\r\x1b[0K`
    await this.#log.write(`${this.#isMarked ? mark('start') : ''}${CYAN}${title}${RESET}\n`)
    try {
      await work()
    } finally {
      if (this.#isMarked) await this.#log.write(mark('end'))
    }
  }
}
