import { invalid } from '../../../errors.ts'
import type { LinkType } from './model.ts'

const LONGEST_NAME = 255
const LONGEST_DESCRIPTION = 65_535
const LONGEST_URL = 2048
const LONGEST_PATH = 128
const PROTOCOLS = ['http:', 'https:', 'ftp:']

const tooLong = (most: number) => `is too long (maximum is ${most} characters)`

export function assertValidRelease({
  name,
  description,
}: {
  name?: string | null | undefined
  description?: string | null | undefined
}): void {
  if (name && name.length > LONGEST_NAME) throw invalid({ name: [tooLong(LONGEST_NAME)] })
  if (description && description.length > LONGEST_DESCRIPTION) {
    throw invalid({ description: [tooLong(LONGEST_DESCRIPTION)] })
  }
}

export interface LinkInput {
  name?: string | null | undefined
  url?: string | null | undefined
  link_type?: LinkType | null | undefined
  direct_asset_path?: string | null | undefined
}

/** Validates the given fields. The server redirects callers to the URL of a link, so it must be a plain web address. */
export function assertValidLink({ name, url, direct_asset_path: path }: LinkInput): void {
  if (typeof name === 'string') {
    if (name.trim() === '') throw invalid({ name: ["can't be blank"] })
    if (name.length > LONGEST_NAME) throw invalid({ name: [tooLong(LONGEST_NAME)] })
  }
  if (typeof url === 'string') {
    if (url.length > LONGEST_URL) throw invalid({ url: [tooLong(LONGEST_URL)] })
    if (!PROTOCOLS.includes(URL.parse(url)?.protocol ?? '')) {
      throw invalid({ url: ['must be a valid URL: only http, https and ftp are allowed'] })
    }
  }
  if (path && (path.length > LONGEST_PATH || !isPath(path))) throw invalid({ filepath: ['is in an invalid format'] })
}

/** Rejects links with the same name or the same URL within one request. */
export function assertNoTwins(links: readonly LinkInput[]): void {
  for (const field of ['name', 'url'] as const) {
    const values = new Set(links.map((link) => link[field]))
    if (values.size < links.length) throw invalid({ [field]: ['has already been taken'] })
  }
}

const isPath = (path: string) =>
  path.startsWith('/') &&
  path
    .slice(1)
    .split('/')
    .every((part) => /^[\w.-]+$/.test(part) && part !== '.' && part !== '..')
