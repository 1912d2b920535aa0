// Puts what is not code beside the built code: tsc takes along only what it compiles.
import { cp } from 'node:fs/promises'

const contents = 'features/instance/templates/contents'
await cp(`src/${contents}`, `dist/${contents}`, { recursive: true })
