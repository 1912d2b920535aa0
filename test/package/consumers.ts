/** Programs of package users. */
const BODY = `
  const jane = await forge.user({ username: 'jane' })
  const project = await forge.project({ path: 'demo' }, jane)
  await forge.seed(project, { 'README.md': '# Demo' }, { as: jane })
  const names = await forge.events()
  console.log(JSON.stringify([project.path_with_namespace, names]))`

export const PRINTED = JSON.stringify(['jane/demo', ['user.created', 'project.created', 'repository.changed']])

const TYPED = `
  await using forge: Forge = await startForge({ settings: { RATE_LIMIT: 'off' } })
  ${BODY}
  const [first] = names satisfies string[]
  const exact: { id: number; branch: string | null; visibility: 'private' | 'internal' | 'public' } = {
    id: project.id, branch: project.default_branch, visibility: project.visibility,
  }
  const status: number | null | undefined = forge.requests()[0]?.status
  const receiver: Receiver = await forge.receiver()
  await fetch(receiver.url, { method: 'POST', body: JSON.stringify({ object_kind: 'push' }) })
  const { kind, headers }: Delivery = await receiver.next('push')
  const mails: readonly ForgeMail[] = await forge.mail()
  void [first?.length, exact, status, kind satisfies string, headers['content-type'], mails]
  // @ts-expect-error -- a misspelt wish
  const misspelt = () => forge.project({ visiblity: 'public' })
  // @ts-expect-error -- a field that projects do not have
  const unknown = () => project.nonsense
  void [misspelt, unknown]`

export const CONSUMERS = {
  'esm.mjs': `import { startForge } from 'mortise'\nconst forge = await startForge()\n${BODY}\nawait forge.close()`,
  'page.mjs': `import { startForge } from 'mortise'
    const forge = await startForge()
    const answer = await fetch(forge.url + '/users/sign_in')
    console.log(answer.status, await answer.text())
    const help = await fetch(forge.url + '/help/install', { headers: { accept: 'text/html' } })
    console.log(help.status, (await help.text()).includes('<h1>Install</h1>'))
    await forge.close()`,
  'commonjs.cjs': `const { startForge } = require('mortise')
    startForge().then(async (forge) => { ${BODY}\nawait forge.close() })`,
  'jest.test.cjs': `const { startForge } = require('mortise')
    test('a forge', async () => { const forge = await startForge()\n${BODY}\nawait forge.close() })`,
  'typed.mts': `import { startForge, type Delivery, type Forge, type ForgeMail, type Receiver } from 'mortise'\n${TYPED}`,
  'typed-commonjs.cts': `import { startForge, type Delivery, type Forge, type ForgeMail, type Receiver } from 'mortise'\nvoid (async () => { ${TYPED} })()`,
}

/** Declarations are checked as strictly as the consumer's own code. */
export const tsconfig = (root: string) => ({
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    target: 'es2022',
    module: 'nodenext',
    typeRoots: [`${root}/node_modules/@types`],
    types: ['node'],
    outDir: 'out',
    rootDir: '.',
  },
  include: ['*.mts', '*.cts'],
})
