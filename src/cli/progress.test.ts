import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Progress } from './progress.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function streamOf(columns: number | null) {
  const stream = Object.assign(new PassThrough(), columns === null ? {} : { isTTY: true, columns })
  let written = ''
  stream.on('data', (chunk: Buffer) => (written += chunk.toString()))
  return { stream: stream as unknown as NodeJS.WriteStream, written: () => written }
}

test('a terminal shows one line that changes, no wider than itself, and none in the end', () => {
  const { stream, written } = streamOf(11)
  {
    using progress = new Progress(stream)
    progress.at('first')
    vi.advanceTimersByTime(200)
    progress.at('something longer')
    vi.advanceTimersByTime(400)
  }
  expect(written()).toBe('first\r\u001B[Ksomething \r\u001B[K')
})

test('elsewhere work that takes long is told of now and then, short work not', () => {
  const { stream, written } = streamOf(null)
  {
    using progress = new Progress(stream)
    progress.at('first')
    vi.advanceTimersByTime(29_000)
    expect(written()).toBe('')
    vi.advanceTimersByTime(1_000)
    progress.at('second')
    vi.advanceTimersByTime(30_000)
  }
  expect(written()).toBe('first\nsecond\n')
})
