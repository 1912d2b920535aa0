// Builds the pages, for browsers and for the server: `dist/web`. Plain JavaScript, because the build runs on any Node.
import { readdirSync, statSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The newest change of a source. */
export function changedAt() {
  const files = readdirSync(join(root, 'web'), { recursive: true, withFileTypes: true })
  const times = files.filter((file) => file.isFile()).map((file) => statSync(join(file.parentPath, file.name)).mtimeMs)
  return Math.max(...times)
}

export async function buildWeb() {
  const { build } = await import('vite')
  const changed = changedAt()
  const made = join(root, 'dist', `web.${process.pid}`)
  const configFile = join(root, 'web/vite.config.ts')
  await mkdir(made, { recursive: true })
  try {
    await build({ configFile, build: { outDir: join(made, 'assets') } })
    await build({ configFile, build: { ssr: join(root, 'web/server.tsx'), outDir: join(made, 'server') } })
    await pack(join(made, 'assets'))
    await writeFile(join(made, 'changed'), String(changed))
    await replace(made, join(root, 'dist/web'))
  } finally {
    await rm(made, { recursive: true, force: true })
  }
}

/** Several processes may build at once: the last to come is as good as the first. */
async function replace(made, place) {
  for (let tries = 5; ; tries--) {
    await rm(place, { recursive: true, force: true })
    try {
      return await rename(made, place)
    } catch (error) {
      if (tries === 0 || !['ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error
    }
  }
}

/** Packed once, as well as it gets, instead of at every request. */
async function pack(folder) {
  const files = readdirSync(folder).filter((file) => /\.(js|css|svg)$/.test(file))
  for (const file of files) {
    const content = await readFile(join(folder, file))
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }
    await writeFile(join(folder, `${file}.br`), await promisify(brotliCompress)(content, quality))
    await writeFile(join(folder, `${file}.gz`), await promisify(gzip)(content, { level: 9 }))
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildWeb()
