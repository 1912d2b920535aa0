/** A text from elsewhere, for users who name its address: only from where they may send us, bounded in size and time. */
import { request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { isIP } from 'node:net'
import { AddressRefused, resolvePublic, type GuardOptions } from './guard.ts'

export type FetchFailure = 'bad_address' | 'not_allowed' | 'unreachable' | 'timeout' | 'too_large' | number

export interface FetchWish {
  readonly guard: GuardOptions
  readonly maxBytes: number
  readonly deadline: number
}

const MOST_REDIRECTS = 5

export async function fetchText(url: string, wish: FetchWish): Promise<{ text: string } | { failure: FetchFailure }> {
  const signal = AbortSignal.timeout(wish.deadline)
  let address = url
  for (let turns = 0; turns <= MOST_REDIRECTS; turns++) {
    const parsed = URL.parse(address)
    if (!parsed || !['http:', 'https:'].includes(parsed.protocol)) return { failure: 'bad_address' }
    try {
      // Asked for each redirect, and the very address that was checked is the one connected to.
      const answer = await get(parsed, await resolvePublic(parsed, wish.guard), wish.maxBytes, signal)
      if ('location' in answer) address = new URL(answer.location, parsed).href
      else return answer
    } catch (error) {
      if (error instanceof AddressRefused)
        return {
          failure:
            error.reason === 'unresolved'
              ? 'unreachable'
              : error.reason === 'malformed'
                ? 'bad_address'
                : 'not_allowed',
        }
      return { failure: signal.aborted ? 'timeout' : 'unreachable' }
    }
  }
  return { failure: 'unreachable' }
}

type Got = { text: string } | { failure: FetchFailure } | { location: string }

function get(url: URL, ip: string, maxBytes: number, signal: AbortSignal): Promise<Got> {
  const { promise, resolve, reject } = Promise.withResolvers<Got>()
  const request = url.protocol === 'https:' ? secureRequest : plainRequest
  const family = isIP(ip)
  const asked = request(url, {
    signal,
    agent: false,
    lookup: (_host, options, found) => {
      if (options.all) found(null, [{ address: ip, family }])
      else found(null, ip, family)
    },
  })
  asked.on('error', reject)
  asked.on('response', (response) => {
    const { statusCode = 0, headers } = response
    if (statusCode >= 300 && statusCode < 400 && headers.location) {
      response.destroy()
      return resolve({ location: headers.location })
    }
    if (statusCode !== 200) {
      response.destroy()
      return resolve({ failure: statusCode })
    }
    const chunks: Buffer[] = []
    let size = 0
    response.on('error', reject)
    response.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) {
        response.destroy()
        return resolve({ failure: 'too_large' })
      }
      chunks.push(chunk)
    })
    response.on('end', () => resolve({ text: Buffer.concat(chunks).toString('utf8') }))
  })
  asked.end()
  return promise
}
