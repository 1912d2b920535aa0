import { z } from 'zod'
import { assertRules, filled, limited, rule, rulesOf } from '../../../api/rules.ts'
import { taken } from '../../../errors.ts'
import type { LinkType } from './model.ts'

const LONGEST_PATH = 128
const PROTOCOLS = ['http:', 'https:', 'ftp:']

const releaseRules = rulesOf({ name: limited(z.string(), 255), description: limited(z.string(), 65_535) })

export const assertValidRelease = (release: {
  name?: string | null | undefined
  description?: string | null | undefined
}): void => assertRules(releaseRules, release)

export interface LinkInput {
  name?: string | null | undefined
  url?: string | null | undefined
  link_type?: LinkType | null | undefined
  direct_asset_path?: string | null | undefined
}

const isPath = (path: string) =>
  path.length <= LONGEST_PATH &&
  path.startsWith('/') &&
  path
    .slice(1)
    .split('/')
    .every((part) => /^[\w.-]+$/.test(part) && part !== '.' && part !== '..')

/** The server redirects callers to the URL of a link, so it must be a plain web address. */
const linkRules = rulesOf({
  name: filled(z.string(), 255),
  url: limited(z.string(), 2048, { last: true }).check(
    rule(
      (url) => PROTOCOLS.includes(URL.parse(url)?.protocol ?? ''),
      'must be a valid URL: only http, https and ftp are allowed',
    ),
  ),
  filepath: z.string().check(rule((path) => path === '' || isPath(path), 'is in an invalid format')),
})

export const assertValidLink = (link: LinkInput): void =>
  assertRules(linkRules, { ...link, filepath: link.direct_asset_path })

/** Rejects links with the same name or the same URL within one request. */
export function assertNoTwins(links: readonly LinkInput[]): void {
  for (const field of ['name', 'url'] as const) {
    const values = new Set(links.map((link) => link[field]))
    if (values.size < links.length) throw taken(field)
  }
}
