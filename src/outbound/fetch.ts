/** Fetches a text from a URL that a user names: only from allowed addresses, limited in size and time. */
import { OutgoingFailure, exchange, type OutgoingGuard, type OutgoingProxy } from './client.ts'

export type FetchFailure = 'bad_address' | 'not_allowed' | 'unreachable' | 'timeout' | number

export interface FetchOptions {
  readonly guard: OutgoingGuard
  readonly proxy?: OutgoingProxy | null
  readonly maxBytes: number
  readonly deadline: number
}

export async function fetchText(
  url: string,
  input: FetchOptions,
): Promise<{ text: string } | { failure: FetchFailure }> {
  const { guard, proxy = null, maxBytes, deadline } = input
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return { failure: 'bad_address' }
  try {
    const limits = { connect: deadline, read: deadline, total: deadline, body: maxBytes }
    const { status, body, isWhole } = await exchange({ url }, { guard, proxy, limits })
    if (status !== 200) return { failure: status }
    return isWhole ? { text: body.toString('utf8') } : { failure: 'unreachable' }
  } catch (error) {
    if (!(error instanceof OutgoingFailure)) throw error
    if (error.reason === 'timeout') return { failure: 'timeout' }
    return { failure: error.reason === 'refused' ? 'not_allowed' : 'unreachable' }
  }
}
