# This Dockerfile is a template: it may need editing before it fits your project.

FROM python:3.12
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
WORKDIR /app

# Packages change less often than code: installed apart, they stay cached.
COPY requirements.txt ./
RUN pip install --no-cache-dir -r requirements.txt
COPY . .

RUN useradd --system --no-create-home app
USER app
EXPOSE 8000
CMD ["python", "app.py"]
