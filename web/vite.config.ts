import { defineConfig } from 'vite'

/** Two builds of the same pages: for browsers, and for server-side rendering. */
export default defineConfig(({ isSsrBuild }) => ({
  root: import.meta.dirname,
  base: '/-/assets/',
  publicDir: isSsrBuild ? false : 'public',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: isSsrBuild ? '../dist/web/server' : '../dist/web/assets',
    emptyOutDir: true,
    assetsDir: '',
    target: 'es2023',
    modulePreload: false,
    assetsInlineLimit: 0,
    ...(!isSsrBuild && {
      manifest: 'manifest.json',
      cssCodeSplit: false,
      rolldownOptions: {
        // Texts stand in the page that uses them, not in a module of all texts.
        optimization: { inlineConst: true },
        input: { client: 'web/client.tsx', 'sign-in': 'web/sign-in.ts' },
        // Pages outside this build refer to it by a fixed name.
        output: { entryFileNames: ({ name }) => (name === 'sign-in' ? '[name].js' : '[name]-[hash].js') },
      },
    }),
  },
  ssr: { noExternal: true },
}))
