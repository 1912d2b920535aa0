# This Dockerfile is a template: it may need editing before it fits your project.

FROM node:22
ENV NODE_ENV=production
WORKDIR /app

# Packages change less often than code: installed apart, they stay cached.
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY . .

USER node
EXPOSE 3000
CMD ["node", "index.js"]
