/** The logo image in a repository, shown if no avatar was uploaded. */
import { branch } from '../../../git/process/arguments.ts'
import { readObject } from '../../../git/objects/objects.ts'
import { entryAt, isFile } from '../../../git/objects/trees.ts'
import { sniffImage } from '../../../lib/files/image.ts'

/** The first file that exists is shown. */
const LOGOS = ['logo.png', 'logo.jpg', 'logo.gif']
const LARGEST_LOGO = 1024 * 1024

export interface Logo {
  readonly bytes: Buffer
  readonly type: string
}

/** Null if the file does not exist, is too large, or is not an image, whatever its name. */
export async function readLogo(dir: string, defaultBranch: string, name: string): Promise<Logo | null> {
  const entry = await entryAt(dir, branch(defaultBranch), name)
  if (!entry || !isFile(entry)) return null
  const { content } = (await readObject(dir, entry.id, { maxBytes: LARGEST_LOGO })) ?? {}
  const image = content ? sniffImage(content) : null
  return image && { bytes: content!, type: image.mime }
}

/** `files` are the names in the root folder. */
export async function findLogo(dir: string, defaultBranch: string, files: readonly string[]): Promise<string | null> {
  for (const name of LOGOS) {
    if (files.includes(name) && (await readLogo(dir, defaultBranch, name))) return name
  }
  return null
}
