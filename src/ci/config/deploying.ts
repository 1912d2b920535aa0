/** Reads the keywords `environment`, `release`, `pages`, `id_tokens` and `secrets` of a job. */
import { tooLong } from '../../lib/text/faults.ts'
import { parseSpan } from './durations.ts'
import type { Spot } from './faults.ts'
import { isMapping, type Mapping, type Value } from './tree.ts'
import { isText, knowsKeys, mappingOf, oneOf, textAt, textOrTextsAt, textsAt } from './values.ts'

const ACTIONS = ['start', 'stop', 'prepare', 'verify', 'access'] as const
const TIERS = ['production', 'staging', 'testing', 'development', 'other'] as const
const LONGEST_NAME = 255

export interface Environment {
  /** May contain variables. */
  readonly name: string
  readonly url: string | null
  readonly on_stop: string | null
  readonly action: (typeof ACTIONS)[number]
  /** As written in the file. */
  readonly auto_stop_in: string | null
  readonly deployment_tier: (typeof TIERS)[number] | null
  readonly kubernetes: Readonly<Record<string, unknown>> | null
}

const NAME = /^[\w/${}. -]+$/
const NAME_FAULT =
  "name can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'"

export function readEnvironment(value: Value, spot: Spot): Environment | null {
  if (value === null) return null
  const entry = isText(value) ? { name: value } : value
  if (!isMapping(entry)) return spot.config('should be a hash or a string') ?? null
  knowsKeys(spot, entry, ['name', 'url', 'action', 'on_stop', 'auto_stop_in', 'kubernetes', 'deployment_tier'])
  const name = readName(entry, spot)
  const url = textAt(spot, entry, 'url')
  if (url !== null && url.length > LONGEST_NAME) spot.attribute(entry, 'url', tooLong(LONGEST_NAME))
  const stop = entry['auto_stop_in'] ?? null
  if (stop !== null && !(isText(stop) && stop.includes('$')) && stop !== 'never' && parseSpan(stop) === null)
    spot.attribute(entry, 'auto_stop_in', 'should be a duration')
  const kubernetes = entry['kubernetes'] ?? null
  if (kubernetes !== null && !isMapping(kubernetes)) spot.at(entry, 'kubernetes').config('should be a hash')
  const environment = {
    url,
    on_stop: textAt(spot, entry, 'on_stop'),
    action: oneOf(spot, entry, 'action', ACTIONS, 'should be start, stop, prepare, verify, or access') ?? 'start',
    auto_stop_in: stop === null ? null : String(stop as string | number),
    deployment_tier: oneOf(spot, entry, 'deployment_tier', TIERS, `must be one of ${TIERS.join(', ')}`),
    kubernetes: isMapping(kubernetes) ? { ...kubernetes } : null,
  }
  return name === null ? null : { name, ...environment }
}

function readName(entry: Mapping, spot: Spot): string | null {
  const name = textAt(spot, entry, 'name')
  if (name === null || name === '')
    return 'name' in entry && name === null ? null : (spot.say("name can't be blank") ?? null)
  if (name.length > LONGEST_NAME) return spot.attribute(entry, 'name', tooLong(LONGEST_NAME)) ?? null
  if (!NAME.test(name) || name.startsWith('/') || name.endsWith('/')) return spot.say(NAME_FAULT) ?? null
  return name
}

export interface Release {
  readonly tag_name: string
  readonly description: string
  readonly tag_message: string | null
  readonly name: string | null
  readonly ref: string | null
  readonly milestones: readonly string[]
  readonly released_at: string | null
  readonly links: readonly { name: string; url: string; filepath: string | null; link_type: string | null }[]
}

const LINK_TYPES = ['other', 'runbook', 'image', 'package'] as const

export function readRelease(value: Value, spot: Spot): Release | null {
  if (value === null) return null
  const entry = mappingOf(spot, value)
  if (!entry) return null
  knowsKeys(spot, entry, [
    'tag_name',
    'tag_message',
    'name',
    'description',
    'ref',
    'milestones',
    'released_at',
    'assets',
  ])
  const [tag_name, description] = [textAt(spot, entry, 'tag_name'), textAt(spot, entry, 'description')]
  for (const key of ['tag_name', 'description']) if (!entry[key]) spot.attribute(entry, key, "can't be blank")
  const released_at = textAt(spot, entry, 'released_at')
  if (released_at !== null && !released_at.includes('$') && Number.isNaN(Date.parse(released_at)))
    spot.attribute(entry, 'released_at', 'must be a valid datetime')
  if (!tag_name || !description) return null
  return {
    tag_name,
    description,
    tag_message: textAt(spot, entry, 'tag_message'),
    name: textAt(spot, entry, 'name'),
    ref: textAt(spot, entry, 'ref'),
    milestones: textOrTextsAt(spot, entry, 'milestones') ?? [],
    released_at,
    links: readLinks(entry['assets'] ?? null, spot.at(entry, 'assets')),
  }
}

function readLinks(value: Value, spot: Spot): Release['links'] {
  if (value === null) return []
  const assets = mappingOf(spot, value)
  if (!assets) return []
  knowsKeys(spot, assets, ['links'])
  const links = assets['links'] ?? null
  if (!Array.isArray(links) || links.length > 100)
    return spot.at(assets, 'links').config('should be an array of hashes') ?? []
  return links.flatMap((item) => {
    const at = spot.at(assets, 'links').item(item, 'link')
    const link = mappingOf(at, item)
    if (!link) return []
    knowsKeys(at, link, ['name', 'url', 'filepath', 'link_type'])
    const [name, url] = [textAt(at, link, 'name'), textAt(at, link, 'url')]
    for (const key of ['name', 'url']) if (!link[key]) at.attribute(link, key, "can't be blank")
    if (!name || !url) return []
    return [{ name, url, filepath: textAt(at, link, 'filepath'), link_type: oneOf(at, link, 'link_type', LINK_TYPES) }]
  })
}

export interface Pages {
  /** The folder of the archive that becomes the site. */
  readonly publish: string
  readonly path_prefix: string | null
  readonly expire_in: string | null
}

export function readPages(name: string, job: Mapping, spot: Spot): Pages | null {
  const value = job['pages'] ?? (name === 'pages' ? true : null)
  const publish = textAt(spot, job, 'publish') ?? 'public'
  if (value === null || value === false) return null
  if (value === true) return { publish, path_prefix: null, expire_in: null }
  const at = spot.at(job, 'pages')
  if (!isMapping(value)) return at.config('should be a hash or a boolean value') ?? null
  knowsKeys(at, value, ['publish', 'path_prefix', 'expire_in', 'artifacts'])
  const expire = value['expire_in'] ?? null
  if (expire !== null && expire !== 'never' && parseSpan(expire) === null)
    at.attribute(value, 'expire_in', 'should be a duration')
  return {
    publish: textAt(at, value, 'publish') ?? publish,
    path_prefix: textAt(at, value, 'path_prefix'),
    expire_in: expire === null ? null : String(expire as string | number),
  }
}

export interface Secrets {
  readonly [name: string]: Readonly<Record<string, unknown>>
}

/** Providers that the runner protocol supports. */
const PROVIDERS = ['vault', 'gcp_secret_manager', 'azure_key_vault']

export function readSecrets(value: Value, spot: Spot): Secrets | null {
  if (value === null) return null
  const entry = mappingOf(spot, value)
  if (!entry) return null
  return Object.fromEntries(
    Object.entries(entry).flatMap(([name, one]) => {
      const at = spot.at(entry, name)
      const secret = mappingOf(at, one)
      if (!secret) return []
      knowsKeys(at, secret, [...PROVIDERS, 'file', 'token'])
      if (PROVIDERS.filter((provider) => provider in secret).length !== 1)
        at.config(`must use exactly one of these keys: ${PROVIDERS.join(', ')}`)
      for (const provider of PROVIDERS) {
        const location = secret[provider]
        if (location !== undefined && !isText(location) && !isMapping(location))
          at.at(secret, provider).config('should be a hash or a string')
      }
      return [[name, { ...secret }]]
    }),
  )
}

export interface IdTokens {
  readonly [name: string]: { readonly aud: readonly string[] }
}

/** Every run signs each token again. */
const MOST_TOKENS = 50

export function readIdTokens(value: Value, spot: Spot): IdTokens | null {
  if (value === null) return null
  const entry = mappingOf(spot, value)
  if (!entry) return null
  if (Object.keys(entry).length > MOST_TOKENS)
    return spot.config(`has too many entries (maximum is ${MOST_TOKENS})`) ?? null
  return Object.fromEntries(
    Object.entries(entry).flatMap(([name, one]) => {
      const at = spot.at(entry, name)
      const token = mappingOf(at, one)
      if (!token) return []
      knowsKeys(at, token, ['aud'])
      if (!('aud' in token)) return at.config('missing required keys: aud') ?? []
      const aud = isText(token['aud']) ? [token['aud']] : textsAt(at, token, 'aud')
      if (aud?.length === 0) return at.attribute(token, 'aud', "can't be blank") ?? []
      return aud ? [[name, { aud }]] : []
    }),
  )
}
