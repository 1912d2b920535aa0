import { expect, test } from 'vitest'
import type { Service } from './declare.ts'
import { SERVICES } from './registry.ts'

const code = (text: string) => `\`${text}\``

function whatIs({ gone, requests, deliver, variables, fields, slug, events }: Service): string {
  if (gone !== undefined) return `Kept, nothing is sent: ${gone.charAt(0).toLowerCase()}${gone.slice(1)}`
  if (requests ?? deliver) return 'Is told'
  if (variables) return 'Gives variables to CI jobs'
  if (slug.endsWith('slash-commands')) return 'Takes commands of a chat'
  return events.length > 0 || 'api_token' in fields ? 'Texts link to its issues' : 'The page of the wiki leads there'
}

function rowOf(service: Service): string {
  const fields = Object.entries(service.fields).map(
    ([name, { isRequired, isSecret }]) => code(name) + (isRequired ? '*' : '') + (isSecret ? ' (secret)' : ''),
  )
  const events = service.gone === undefined && (service.requests ?? service.deliver) ? service.events : []
  return `| ${[code(service.slug), whatIs(service), fields.join(', '), events.join(', ')].join(' | ')} |`
}

test('the page on services says what they are declared to be', async () => {
  const page = `# Services

Set by \`PUT /projects/:id/integrations/:slug\` or \`/groups/:id/integrations/:slug\`, or by the older name \`services\`. A project without its own takes that of its nearest group; \`use_inherited_settings\` goes back to that. Required fields have a star. Secrets are sealed, never answered, and have to be given anew with another address. Each event has a switch (\`push_events\`, \`issues_events\` …); new services start with all on. \`branches_to_be_notified\` and \`notify_only_broken_pipelines\` narrow what is told. \`POST …/:slug/test\` sends a sample at once and tells what came of it. Commands of a chat are listed by \`help\`; who speaks there says on a page of this forge who they are, and takes it back by \`DELETE /user/chat_names/:id\`.

| Slug | What it does | Fields | Events |
|---|---|---|---|
${SERVICES.map(rowOf).join('\n')}
`
  await expect(page).toMatchFileSnapshot('../../../../docs/services.md')
})
