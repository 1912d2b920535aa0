import { expect, test } from 'vitest'
import { InFlight } from './in-flight.ts'

test('those who ask meanwhile share one run, failures too; later ones begin anew', async () => {
  const flights = new InFlight<number>()
  const ends: PromiseWithResolvers<number>[] = []
  const start = () => (ends.push(Promise.withResolvers<number>()), ends.at(-1)!.promise)
  const [a, b, other] = [flights.share('x', start), flights.share('x', start), flights.share('y', start)]
  expect(ends).toHaveLength(2)
  ends[0]!.resolve(1)
  ends[1]!.resolve(2)
  expect(await Promise.all([a, b, other])).toEqual([1, 1, 2])
  const [c, d] = [flights.share('x', start), flights.share('x', start)]
  ends[2]!.reject(new Error('no'))
  expect(await Promise.allSettled([c, d])).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
  const last = flights.share('x', start)
  ends[3]!.resolve(4)
  expect(await last).toBe(4)
})
