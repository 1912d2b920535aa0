import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { SettingsEntity, presentSettings } from './entity.ts'
import { SettingsInput, canonicalInput } from './input.ts'
import { loadSettings } from './queries.ts'
import { updateSettings } from './service.ts'

export const get = endpoint({
  method: 'GET',
  path: '/application/settings',
  summary: 'Get the settings of the instance',
  ...administratorsFirst,
  secret: true,
  output: SettingsEntity,
  handle: async ({ app }) => presentSettings(await loadSettings(app)),
})

export const update = endpoint({
  method: 'PUT',
  path: '/application/settings',
  summary: 'Update settings of the instance',
  ...administratorsFirst,
  before: async (app) => presentSettings(await loadSettings(app)),
  input: SettingsInput,
  output: SettingsEntity,
  async handle({ app, input }) {
    await updateSettings(app, canonicalInput(input))
    return presentSettings(await loadSettings(app))
  },
})
