/**
 * LDAP directories: who the people of an organisation are, whether a password is theirs, and who is in which group. An
 * answer is a fact: null means that the directory holds no such person or group, or that the password is wrong.
 * Whatever is not a clear answer is thrown as DirectoryUnreachable. DNs are given back normalised, so that they can be
 * compared as text with `normaliseDn()` of any other.
 */
import { randomUUID } from 'node:crypto'
import type { Client, Entry, Filter } from 'ldapts'
import type { Config } from '../config.ts'
import { converse, type Ldapts, type Server } from './connection.ts'
import { isWithin, normaliseDn } from './dn.ts'
import { allValuesOf, valuesOf } from './entries.ts'

export { DirectoryUnreachable } from './connection.ts'
export { normaliseDn } from './dn.ts'

export interface DirectoryPerson {
  readonly dn: string
  readonly username: string
  readonly name: string
  readonly email: string | null
}

export interface Directory {
  /** What identities of its people are kept under, e.g. `ldapmain`. */
  readonly provider: string
  /**
   * The person who signs in as `login`, if the password is theirs. Where nobody does, `dn` is looked at: whom the
   * forge knows by another name is found as well. It takes the same steps whether or not there is such a person.
   */
  authenticate(login: string, password: string, dn?: string): Promise<DirectoryPerson | null>
  /** The members of the groups named `cn`; null if there is none. Members that are groups stay what they are. */
  findMembers(cn: string): Promise<string[] | null>
  /** DNs of those who may sign in and whom a filter finds. */
  findMatching(filter: string): Promise<string[]>
  /** Null once the person is gone, or is no longer among those who may sign in. */
  findPerson(dn: string): Promise<DirectoryPerson | null>
}

export type Directories = readonly Directory[]

export function openDirectories(config: Config): Directories {
  const { ldapUrl, ldapBase } = config
  if (ldapUrl === null || ldapBase === null) return []
  return [openDirectory({ ...config, ldapUrl, ldapBase })]
}

type Settings = Server &
  Pick<Config, 'ldapUid' | 'ldapFilter' | 'ldapGroupBase'> & {
    readonly ldapBase: string
  }

const openDirectory = (settings: Settings): Directory => ({
  provider: settings.ldapProvider,

  async authenticate(login, password, dn) {
    // A bind without a password succeeds for everybody: to a server it is an anonymous one.
    if (login === '' || password === '') return null
    return converse(settings, async (client, ldap) => {
      const people = new People(client, ldap, settings)
      const nobody = `${settings.ldapUid}=${randomUUID()},${settings.ldapBase}`
      const [called, known] = await Promise.all([people.called(login), people.at(dn ?? nobody)])
      const found = called.length === 0 ? known : called.length === 1 ? called[0]! : null
      const isRight = await canBind(client, ldap, found?.dn ?? nobody, password)
      return found && isRight ? people.present(found) : null
    })
  },

  findMembers: (cn) =>
    converse(settings, async (client, ldap) => {
      const groups = await findGroups(client, ldap, settings, cn)
      if (groups.length === 0) return null
      const named = await Promise.all(groups.map((group) => namedMembers(client, group)))
      const logins = groups.flatMap((group) => valuesOf(group, 'memberUid'))
      const people = await new People(client, ldap, settings).calledAnyOf(logins)
      return [...new Set([...named.flat(), ...people.map(({ dn }) => dn)].map(normaliseDn))]
    }),

  findMatching: (filter) =>
    converse(settings, async (client, ldap) => {
      const people = await new People(client, ldap, settings).matching(filter)
      return people.map(({ dn }) => normaliseDn(dn))
    }),

  findPerson: (dn) =>
    converse(settings, async (client, ldap) => {
      const people = new People(client, ldap, settings)
      const found = await people.at(dn)
      if (found) return people.present(found)
      // Of an empty server, or one that hides everything from us, everybody would seem gone.
      await client.search(settings.ldapBase, { scope: 'base', attributes: ['1.1'] })
      return null
    }),
})

/** Whether a directory would understand it. */
export async function isFilter(text: string): Promise<boolean> {
  const { FilterParser } = await import('ldapts')
  try {
    FilterParser.parseString(text)
    return true
  } catch {
    return false
  }
}

const NO_SUCH_OBJECT_OR_DN = [32, 34]
const BUSY_OR_UNAVAILABLE = [51, 52]
const PAGE = 500
const NAMES_A_SEARCH = 100

/** Whom the settings let in: those below the base who have the attribute to sign in by and pass the filter. */
class People {
  readonly #client: Client
  readonly #ldap: Ldapts
  readonly #settings: Settings
  readonly #attributes: string[]

  constructor(client: Client, ldap: Ldapts, settings: Settings) {
    this.#client = client
    this.#ldap = ldap
    this.#settings = settings
    this.#attributes = [settings.ldapUid, 'cn', 'displayName', 'mail']
  }

  /** More than one is nobody: the caller cannot tell whose password it is. */
  async called(login: string): Promise<Entry[]> {
    const options = { filter: this.#named([login]), sizeLimit: 2, attributes: this.#attributes }
    return (await this.#client.search(this.#settings.ldapBase, options)).searchEntries
  }

  async calledAnyOf(logins: string[]): Promise<Entry[]> {
    const found: Entry[] = []
    for (let at = 0; at < logins.length; at += NAMES_A_SEARCH) {
      const filter = this.#named(logins.slice(at, at + NAMES_A_SEARCH))
      const options = { filter, paged: { pageSize: PAGE }, attributes: ['1.1'] }
      found.push(...(await this.#client.search(this.#settings.ldapBase, options)).searchEntries)
    }
    return found
  }

  async matching(filter: string): Promise<Entry[]> {
    const { AndFilter, FilterParser, PresenceFilter } = this.#ldap
    const filters = [new PresenceFilter({ attribute: this.#settings.ldapUid }), FilterParser.parseString(filter)]
    const options = {
      filter: this.#among(new AndFilter({ filters })),
      paged: { pageSize: PAGE },
      attributes: ['1.1'],
    }
    return (await this.#client.search(this.#settings.ldapBase, options)).searchEntries
  }

  async at(dn: string): Promise<Entry | null> {
    const { ldapBase, ldapUid } = this.#settings
    if (!isWithin(dn, ldapBase)) return null
    const filter = this.#among(new this.#ldap.PresenceFilter({ attribute: ldapUid }))
    try {
      const { searchEntries } = await this.#client.search(dn, { scope: 'base', filter, attributes: this.#attributes })
      return searchEntries[0] ?? null
    } catch (error) {
      if (error instanceof this.#ldap.ResultCodeError && NO_SUCH_OBJECT_OR_DN.includes(error.code)) return null
      throw error
    }
  }

  present(entry: Entry): DirectoryPerson {
    const first = (attribute: string) => valuesOf(entry, attribute)[0]?.trim() || null
    const username = first(this.#settings.ldapUid) ?? ''
    return {
      dn: normaliseDn(entry.dn),
      username,
      name: first('displayName') ?? first('cn') ?? username,
      email: first('mail'),
    }
  }

  /** Filters are built, not written: what somebody types in is never part of a filter's text. */
  #named(logins: string[]): Filter {
    const { EqualityFilter, OrFilter } = this.#ldap
    const attribute = this.#settings.ldapUid
    return this.#among(new OrFilter({ filters: logins.map((value) => new EqualityFilter({ attribute, value })) }))
  }

  #among(filter: Filter): Filter {
    const { AndFilter, FilterParser } = this.#ldap
    const { ldapFilter } = this.#settings
    return ldapFilter === null ? filter : new AndFilter({ filters: [filter, FilterParser.parseString(ldapFilter)] })
  }
}

/** Wrong, locked, expired or without any password: a server that answers the bind with a refusal has decided. */
async function canBind(client: Client, ldap: Ldapts, dn: string, password: string): Promise<boolean> {
  try {
    await client.bind(dn, password)
    return true
  } catch (error) {
    if (error instanceof ldap.ResultCodeError && !BUSY_OR_UNAVAILABLE.includes(error.code)) return false
    throw error
  }
}

const GROUP_CLASSES = ['groupOfNames', 'groupOfUniqueNames', 'posixGroup', 'group']
const MEMBER_ATTRIBUTES = ['member', 'uniqueMember']

async function findGroups(client: Client, ldap: Ldapts, settings: Settings, cn: string): Promise<Entry[]> {
  const { AndFilter, EqualityFilter, OrFilter } = ldap
  const is = (attribute: string, value: string) => new EqualityFilter({ attribute, value })
  const filter = new AndFilter({
    filters: [is('cn', cn), new OrFilter({ filters: GROUP_CLASSES.map((one) => is('objectClass', one)) })],
  })
  const base = settings.ldapGroupBase ?? settings.ldapBase
  const attributes = [...MEMBER_ATTRIBUTES, 'memberUid']
  return (await client.search(base, { filter, paged: { pageSize: PAGE }, attributes })).searchEntries
}

async function namedMembers(client: Client, group: Entry): Promise<string[]> {
  const read = async (attribute: string) => {
    const { searchEntries } = await client.search(group.dn, { scope: 'base', attributes: [attribute] })
    return searchEntries[0] ?? { dn: group.dn }
  }
  const lists = await Promise.all(MEMBER_ATTRIBUTES.map((attribute) => allValuesOf(group, attribute, read)))
  // A unique member may carry a bit string behind its DN: `cn=jane,dc=example#'0101'B`.
  return lists.flat().map((dn) => dn.replace(/#'[01]*'B$/, ''))
}
