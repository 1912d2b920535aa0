/** Shows the progress of long work on stderr: continuously on a terminal, elsewhere only if it takes long. */

const ON_TERMINAL_MS = 200
const ELSEWHERE_MS = 30_000

export class Progress implements Disposable {
  readonly #stream: NodeJS.WriteStream
  readonly #timer: NodeJS.Timeout
  #text = ''
  #shown = ''

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream
    this.#timer = setInterval(() => this.#show(), stream.isTTY ? ON_TERMINAL_MS : ELSEWHERE_MS).unref()
  }

  at(text: string): void {
    this.#text = text
  }

  /** Prints a line of output, after clearing the progress line. */
  print(line: string): void {
    this.#clear()
    console.log(line)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#clear()
  }

  #show(): void {
    if (this.#text === this.#shown) return
    this.#clear()
    const { isTTY, columns } = this.#stream
    this.#stream.write(isTTY ? this.#text.slice(0, Math.max(0, columns - 1)) : `${this.#text}\n`)
    this.#shown = this.#text
  }

  #clear(): void {
    if (this.#stream.isTTY && this.#shown !== '') this.#stream.write('\r\u001B[K')
    this.#shown = ''
  }
}
