/**
 * The attack classes of the checklist that apply to every endpoint. They are tested on all declarations, with the
 * records and the valid input of the family's cases, so a new family is covered too.
 */
import { describe, expect, test } from 'vitest'
import type { Endpoint } from '../src/api/endpoint.ts'
import { MOST_PER_PAGE, PageOf } from '../src/api/pages.ts'
import { MINUTE } from '../src/clock.ts'
import { testDatabaseUrl } from '../src/config.ts'
import { startForge, type Reply } from '../src/forge.ts'
import { batchesOf } from '../src/lib/async/batches.ts'
import { INJECTIONS, TIRING } from './attack-texts.ts'
import { Browser } from './browser.ts'
import { call, unique } from './cases.ts'
import { startEffort } from './effort.ts'
import { caseOf, endpointsByFamily, nameOf, v4 } from './endpoints.ts'
import { watchTables } from './watch.ts'
import {
  allCalls,
  isWrite,
  ownFieldsOf,
  addressWith,
  sharedWorld,
  worldOf,
  type EndpointCall,
  type World,
} from './world.ts'

/** Attacks that never reach a statement are tested on SQLite only. */
const onPostgres = testDatabaseUrl() !== undefined

/**
 * A field with a few allowed values rejects every text alike, so one text is enough. Otherwise the texts rotate: every
 * text is tried on many fields, and every field with some texts.
 */
let turn = 0
function triedOn(endpoint: Endpoint, field: string, texts: readonly string[]): readonly string[] {
  if (endpoint.input?.shape[field]?.safeParse('any text').success === false) return texts.slice(0, 1)
  return Array.from({ length: 2 }, () => texts[turn++ % texts.length]!)
}

/** For calls that only read, or fail to write. */
const unwritten = sharedWorld()

const withoutWorker = async () => {
  const forge = await startForge()
  await forge.stopWorker()
  return worldOf(forge)
}

/** Repositories are measured some seconds after they change. */
async function calm({ forge }: World): Promise<void> {
  forge.clock.advance(10_000)
  await forge.settle()
}

/** Each text in the field, with a valid input otherwise, sent concurrently. */
async function tryTexts(
  { forge, caller }: World,
  { endpoint, address, input }: EndpointCall,
  field: string,
  texts: readonly string[],
  more: () => Record<string, string> = () => ({}),
): Promise<[text: string, answer: Reply][]> {
  // Resets rate limits.
  forge.clock.advance(2 * MINUTE)
  const tries = texts.map(async (text): Promise<[string, Reply]> => {
    const request = { ...(await input()), ...more(), [field]: text }
    return [text, await call(caller, endpoint.method, address, request)]
  })
  return Promise.all(tries)
}

/** An endpoint that reads its body itself finds no fields in it. */
const takesFields = (endpoint: Endpoint) => isWrite(endpoint) && ownFieldsOf(endpoint).length > 0 && !endpoint.readsBody
/** Without the file, an upload checks no other field. */
const isAsked = (endpoint: Endpoint) => takesFields(endpoint) && !ownFieldsOf(endpoint).includes('file')

const kindOf = ({ path }: Endpoint) => path.split('/').findLast((segment) => !segment.startsWith(':'))

/**
 * A field that is declared once and used in many places (projects, groups and the instance; create and update) is
 * tested in the first two.
 */
function firstFields(): (endpoint: Endpoint) => string[] {
  const seen = new Map<string, Map<unknown, number>>()
  return (endpoint) =>
    ownFieldsOf(endpoint).filter((field) => {
      const key = `${kindOf(endpoint)} ${field}`
      const schemas = seen.get(key) ?? new Map<unknown, number>()
      const times = schemas.get(endpoint.input!.shape[field]) ?? 0
      seen.set(key, schemas.set(endpoint.input!.shape[field], times + 1))
      return times < 2
    })
}

/** The role test checks the answers themselves. */
test('what takes fields to write has an input, and an administrator is let in with it', () => {
  const takingFields = v4.filter(takesFields)
  expect(takingFields.filter((endpoint) => !caseOf(endpoint).input).map(nameOf)).toEqual([])
  const answer = (endpoint: Endpoint) => Object.values(caseOf(endpoint).rows)[0]!.administrator!
  const refused = takingFields.filter((endpoint) => answer(endpoint) >= 300)
  // A private token cannot be rotated; codes and signatures of a device differ each time.
  expect(refused.map(nameOf)).toEqual([
    'POST /user/passkeys/options',
    'POST /user/passkeys',
    'POST /user/second_factor',
    'POST /user/second_factor/confirm',
    'POST /user/second_factor/recovery_codes',
    'POST /personal_access_tokens/self/rotate',
  ])
})

describe.skipIf(onPostgres)('security 44: regex blow-up in API checks', () => {
  const MOST_MS = 3000
  const fieldsOf = firstFields()
  const shared = sharedWorld()

  test.each(endpointsByFamily(isAsked))('%s: every field that is written', async (_family, endpoints) => {
    const world = await shared()
    for (const asked of await allCalls(world, endpoints)) {
      for (const field of fieldsOf(asked.endpoint)) {
        const texts = triedOn(asked.endpoint, field, TIRING)
        const effort = startEffort()
        for (const [text, { status }] of await tryTexts(world, asked, field, texts))
          expect(status, `${asked.name} ${field} ${text.slice(0, 20)}`).toBeLessThan(500)
        expect(effort(), `${asked.name} ${field}`).toBeLessThan(MOST_MS)
      }
    }
  })
})

describe('security 45: unbounded input or page', () => {
  const isList = ({ output }: Endpoint) => output instanceof PageOf
  let crowded: Promise<World> | undefined
  async function crowd(): Promise<World> {
    const world = await unwritten()
    for (let n = 0; n < MOST_PER_PAGE; n++) await world.forge.user()
    return world
  }

  test.each(endpointsByFamily(isList))('%s: a list gives a page at most', async (_family, endpoints) => {
    const world = await (crowded ??= crowd())
    const { caller } = world
    for (const { name, address, input } of await allCalls(world, endpoints)) {
      const asked = await input()
      const sizes = ['101', '1000000', '999999999999999', '-1', '0'].map(async (per_page) => {
        const { status, body, headers } = await caller.get(address, { ...asked, per_page })
        expect([name, status]).toEqual([name, 200])
        expect(body.length).toBeLessThanOrEqual(MOST_PER_PAGE)
        expect(Number(headers.get('x-per-page'))).toBeLessThanOrEqual(MOST_PER_PAGE)
      })
      const far = ['999999999999999', '-999999999999999'].map(async (page) => {
        const { status } = await caller.get(address, { ...asked, page, per_page: '100' })
        expect([name, page, status]).toEqual([name, page, 200])
      })
      const wrong = ['9'.repeat(16), '1e9', '0x10', '1.5', '[]', 'null'].map(async (page) => {
        expect([name, page, (await caller.get(address, { ...asked, page })).status]).toEqual([name, page, 400])
      })
      await Promise.all([...sizes, ...far, ...wrong])
    }
  })

  /** The form that the field would accept if the text were short. */
  function shapeFor({ endpoint }: EndpointCall, field: string): (text: string) => string {
    const shapes = [
      (text: string) => text,
      (text: string) => `https://app.example/${text}`,
      (text: string) => `${text}@example.com`,
    ]
    return shapes.find((shape) => endpoint.input!.shape[field]!.safeParse(shape('k')).success) ?? shapes[0]!
  }

  /** Documents are long texts with their own limit. */
  const topics = ['issues/:issue_iid', 'merge_requests/:merge_request_iid', 'snippets/:snippet_id']
  const documents = [
    'POST /markdown text',
    'POST /projects/:id/issues description',
    'PUT /projects/:id/issues/:issue_iid description',
    'POST /projects/:id/wikis content',
    'PUT /projects/:id/wikis/:slug content',
    'POST /projects/:id/merge_requests description',
    'PUT /projects/:id/merge_requests/:merge_request_iid description',
    ...[...topics, 'repository/commits/:sha'].flatMap((topic) => [
      `POST /projects/:id/${topic}/discussions body`,
      `POST /projects/:id/${topic}/discussions/:discussion_id/notes body`,
      `PUT /projects/:id/${topic}/discussions/:discussion_id/notes/:note_id body`,
    ]),
    ...topics.flatMap((topic) => [
      `POST /projects/:id/${topic}/notes body`,
      `PUT /projects/:id/${topic}/notes/:note_id body`,
    ]),
    'POST /projects/:id/merge_requests/:merge_request_iid/draft_notes note',
    'POST /projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id note',
    'PUT /projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id note',
  ]

  const shared = sharedWorld(withoutWorker)
  let texts = 0
  /** An overlong text is not stored: an accepted text must have been cut or ignored. */
  test.skipIf(onPostgres).each(endpointsByFamily(isAsked))(
    '%s: no text is kept at any length',
    async (_family, endpoints) => {
      const world = await shared()
      const kept: string[] = []
      const identity = () => ({ provider: unique('provider'), extern_uid: unique('uid') })
      for (const asked of await allCalls(world, endpoints)) {
        for (const field of ownFieldsOf(asked.endpoint)) {
          const more = /^(provider|extern_uid)$/.test(field) ? identity : undefined
          // A new text each time, because a record also shows its other fields.
          const endless = `${'k'.repeat(100_000)}-${++texts}-`
          for (const [, { status, body }] of await tryTexts(
            world,
            asked,
            field,
            [shapeFor(asked, field)(endless)],
            more,
          ))
            if (status < 300 && JSON.stringify(body).includes(endless)) kept.push(`${asked.name} ${field}`)
        }
      }
      const names = endpoints.map(nameOf)
      const own = documents.filter((document) => names.includes(document.slice(0, document.lastIndexOf(' '))))
      expect(new Set(kept)).toEqual(new Set(own))
    },
  )

  test('every document is a field', () => {
    const fields = v4.flatMap((endpoint) => ownFieldsOf(endpoint).map((field) => `${nameOf(endpoint)} ${field}`))
    expect(documents.filter((document) => !fields.includes(document))).toEqual([])
  })
})

describe('security 48: SQL injection in filters', () => {
  const isRead = ({ method }: Endpoint) => method === 'GET'

  test.each(endpointsByFamily(isRead))('%s: every parameter of every read', async (_family, endpoints) => {
    const world = await unwritten()
    const { caller } = world
    const reads = await allCalls(world, endpoints)
    const people = async () => Number((await caller.get('/users')).headers.get('x-total'))
    const before = await people()
    const hash = 'argon2'
    for (const { endpoint, name, address, input } of reads) {
      const asked = await input()
      const fields = new Set([...ownFieldsOf(endpoint), 'order_by', 'sort', 'page', 'per_page', 'sudo', 'search'])
      const tries = [...fields].flatMap((field) =>
        triedOn(endpoint, field, INJECTIONS).map((text) => async () => {
          const { status, body } = await caller.get(address, { ...asked, [field]: text })
          const what = `${name} ${field}=${text}`
          expect(status, what).toBeLessThan(500)
          expect(JSON.stringify(body), what).not.toContain(hash)
        }),
      )
      const places = triedOn(endpoint, '', INJECTIONS).map((text) => async () => {
        const { status } = await caller.get(addressWith(endpoint, text))
        expect(status, `${name} at ${text}`).toBeLessThan(500)
      })
      for (const batch of batchesOf([...tries, ...places], 8)) await Promise.all(batch.map((ask) => ask()))
    }
    expect(before).toBeGreaterThan(Object.keys(world.stage.cast.people).length)
    expect(await people()).toBe(before)
  })

  const shared = sharedWorld(withoutWorker)
  const isOther = (endpoint: Endpoint) => isAsked(endpoint) && endpoint.path !== '/application/settings'
  test.each(endpointsByFamily(isOther))('%s: every field is kept or refused', async (_family, endpoints) => {
    const world = await shared()
    for (const one of await allCalls(world, endpoints)) {
      for (const field of ownFieldsOf(one.endpoint)) {
        const texts = triedOn(one.endpoint, field, INJECTIONS.slice(0, 12))
        for (const [text, { status }] of await tryTexts(world, one, field, texts))
          expect(status, `${one.name} ${field}=${text}`).toBeLessThan(500)
      }
    }
    expect((await world.caller.get('/users/1')).body.username).toBe('root')
  })
})

describe.skipIf(onPostgres)('security 49: CSRF on state-changing GET', () => {
  const PASSWORD = 'correct horse'
  async function signIn({ forge }: World): Promise<Browser> {
    const username = unique('jane')
    await forge.user({ username, password: PASSWORD, admin: true })
    const browser = new Browser(forge.url)
    await browser.signIn(username, PASSWORD)
    return browser
  }
  const begin = async () => {
    const world = await unwritten()
    const [victim, attacker] = [await signIn(world), await signIn(world)]
    const written = await watchTables(world.forge)
    await world.forge.user()
    expect(await written()).toContain('users')
    return { world, victim, attacker, written }
  }
  let begun: ReturnType<typeof begin> | undefined
  const browsers = () => (begun ??= begin())

  test.each(endpointsByFamily())('%s: no GET writes', async (_family, endpoints) => {
    const { world, victim, written } = await browsers()
    const { forge } = world
    const asked = await allCalls(world, endpoints)
    await calm(world)
    using _ = forge.clock.hold() // so that no job becomes due
    await written()
    const tricks = { _method: 'delete', method: 'DELETE', name: 'x', title: 'x', state: 'blocked' }
    const override = { 'X-HTTP-Method-Override': 'DELETE', 'X-Method-Override': 'DELETE', 'X-HTTP-Method': 'DELETE' }
    for (const { address } of asked) {
      const path = `/api/v4${address}?${new URLSearchParams(tricks)}`
      const ask = (method: string) => victim.request(path, { method, headers: override })
      await Promise.all(['GET', 'HEAD', 'OPTIONS'].map(ask))
    }
    await forge.settle()
    expect(await written()).toEqual([])
  })

  const isGuarded = ({ method, allow }: Endpoint) => method !== 'GET' && allow !== 'anyone'
  test.each(endpointsByFamily(isGuarded))('%s: a cookie alone writes nothing', async (_family, endpoints) => {
    const { world, victim, attacker, written } = await browsers()
    const { forge } = world
    const { csrf_token } = JSON.parse((await attacker.get('/-/csrf')).body) as { csrf_token: string }
    const asked = await allCalls(world, endpoints)
    const bodies: string[] = []
    for (const { input } of asked) bodies.push(JSON.stringify(await input()))
    await calm(world)
    using _ = forge.clock.hold() // so that no job becomes due
    await written()
    const proofs: Record<string, string>[] = [
      {},
      { 'X-CSRF-Token': csrf_token },
      { 'X-CSRF-Token': '' },
      { Origin: 'https://evil.example' },
    ]
    const types = ['text/plain', 'application/json', 'application/x-www-form-urlencoded']
    const sent = proofs.flatMap((proof) => types.map((type) => ({ ...proof, 'Content-Type': type })))
    for (const [n, { endpoint, name, address }] of asked.entries()) {
      const ask = async (headers: Record<string, string>) => {
        const { method } = endpoint
        const { status } = await victim.request(`/api/v4${address}`, { method, body: bodies[n]!, headers })
        expect([name, status]).toEqual([name, 401])
      }
      await Promise.all(sent.map(ask))
    }
    await forge.settle()
    expect(await written()).toEqual([])
  })
})
